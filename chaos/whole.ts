/**
 * Ensures that a trial meets everything it is about: chance decides how often, never whether. It starts by
 * filling every limit, before any disturbance. In the end it aims faults at whatever the plan did not meet.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { LEASE_MS } from "./app/limits.ts";
import { readAudit } from "./audit/read.ts";
import { readTables } from "./audit/tables.ts";
import type { Quota } from "./check/happened.ts";
import { happened, missingIn } from "./check/happened.ts";
import { narrowLimits, resetLimits } from "./fault/limits.ts";
import { carryOutOne } from "./fault/nemesis.ts";
import type { Fault } from "./plan.ts";
import { Random } from "./random.ts";
import type { Stage, StageOptions } from "./stage.ts";
import { readWitness } from "./witness-log.ts";

interface Trial extends StageOptions {
  say(what: string): void;
}

/** Anything not met by then counts as never met, which is a finding. */
const OPENING_MS = 30_000;
const MAKING_UP_MS = 90_000;
const AGAIN_MS = 250;

const isAtLimit = (quota: Quota): boolean => quota.startsWith("full ");

const pauseOf = (how: "anywhere" | "inside a pass"): Fault => ({
  lane: "pause",
  at: 0,
  how,
  ms: LEASE_MS + 1_500,
});
const cutOf = (how: "answer" | "request"): Fault => ({ lane: "cut", at: 0, how, whom: "worker" });

/** The fault that causes each thing. The others happen by themselves if there is work and no disturbance. */
const AIMED: Partial<Record<Quota, Fault>> = {
  "stale writes refused": pauseOf("anywhere"),
  reclaims: { lane: "kill", at: 0, whom: "worker" },
  "pauses inside a pass": pauseOf("inside a pass"),
  "answers to a commit lost": cutOf("answer"),
  "commits that never arrived": cutOf("request"),
};

/** With few slots and enough in line, every limit is reached. Afterwards the limits are as declared. */
export async function fillLimits(trial: Trial, stage: Stage): Promise<void> {
  trial.say("filling every limit");
  for (const until = Date.now() + OPENING_MS; Date.now() < until; await sleep(AGAIN_MS)) {
    const missing = await missingNow(trial, stage);
    if (!missing.some(isAtLimit)) break;
    await narrowFor(missing, stage);
  }
  await resetLimits(stage);
}

async function narrowFor(missing: readonly Quota[], stage: Stage): Promise<void> {
  await narrowLimits(stage, [
    ...(missing.includes("full caps") ? (["cluster"] as const) : []),
    ...(missing.includes("full run caps") ? (["runs"] as const) : []),
    ...(missing.includes("full pools") ? (["pool:database"] as const) : []),
  ]);
}

export async function makeUp(trial: Trial, stage: Stage): Promise<void> {
  const random = new Random(trial.seed).fork("whom at last");
  let said = "";
  for (const until = Date.now() + MAKING_UP_MS; Date.now() < until; await sleep(AGAIN_MS)) {
    const missing = await missingNow(trial, stage);
    if (missing.length === 0) return;
    if (said !== String(missing)) trial.say(`still to be met: ${missing.join(", ")}`);
    said = String(missing);
    if (missing.some(isAtLimit)) await narrowFor(missing, stage);
    for (const fault of missing.map((quota) => AIMED[quota]))
      if (fault) await carryOutOne(fault, stage, random);
  }
}

async function missingNow({ store, folder }: Trial, { place, witness, done }: Stage): Promise<Quota[]> {
  const audit = await readAudit(place);
  const tables = await readTables(place);
  const seen = readWitness(witness.log);
  return missingIn(happened({ store, folder, audit, tables, ...seen, done }));
}
