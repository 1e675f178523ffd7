/**
 * Carries out a plan: each lane does one fault after the other, all lanes at the same time. A pause takes
 * longer than the time to the next one, so pauses have two lanes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Fault, Plan } from "../plan.ts";
import { Random } from "../random.ts";
import { cancel } from "./cancel.ts";
import { cut } from "./cut.ts";
import { kill } from "./kill.ts";
import { changeLimits } from "./limits.ts";
import { pause } from "./pause.ts";
import { restart } from "./restart.ts";
import type { Scene } from "./scene.ts";
import { term } from "./term.ts";

const TRIES = 5;

export async function carryOut(plan: Plan, scene: Scene, seed: number): Promise<void> {
  const began = Date.now();
  const over = new AbortController();
  const limits = changeLimits(scene, new Random(seed).fork("limits"), over.signal);
  const lanes = new Map<string, Fault[]>();
  let pauses = 0;
  for (const fault of plan.faults) {
    const lane = fault.lane === "pause" ? `pause ${pauses++ % 2}` : fault.lane;
    lanes.set(lane, [...(lanes.get(lane) ?? []), fault]);
  }
  await Promise.all(
    [...lanes].map(async ([lane, faults]) => {
      const random = new Random(seed).fork(`whom ${lane}`);
      for (const fault of faults) {
        await sleep(Math.max(0, began + fault.at - Date.now()));
        // A fault that found no target, or was overtaken by another, is tried again, so that the planned
        // number happens.
        for (let tries = 0; tries < TRIES && !(await carryOutOne(fault, scene, random)); tries += 1);
      }
    }),
  );
  await sleep(Math.max(0, began + plan.lastsMs - Date.now()));
  over.abort();
  await limits;
}

/** True if the fault really happened. */
export function carryOutOne(fault: Fault, scene: Scene, random: Random): Promise<boolean> {
  switch (fault.lane) {
    case "kill":
      return kill(fault, scene, random);
    case "pause":
      return pause(fault, scene, random);
    case "cut":
      return cut(fault, scene, random);
    case "term":
      return term(fault, scene, random);
    case "restart":
      return restart(scene);
    case "cancel":
      return cancel(scene, random);
  }
}
