// The app of the storm: runs that share a semaphore of 2 and a mutex, each in a namespace of its own.

import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { App } from "../../../src/index.ts";
import { defineApp, task, workflow } from "../../../src/index.ts";
import type { Visitor } from "../../support/witness.ts";

export const LOCKS = { "sem/red/s": 2, "mtx/blue/m": 1 } as const;
export type StormLock = keyof typeof LOCKS;

/** Epochs of different stores are made different. */
const A_STORE = 1_000_000_000;

export interface StormEngine {
  readonly name: string;
  readonly index: number;
  readonly url: string;
}

/** A process that only submits has no visitor. */
export function stormApp({ name, index, url }: StormEngine, visitor?: Visitor): App {
  const inside = (lock: StormLock) =>
    task({
      id: `inside-${lock}`,
      retry: { attempts: 100, delay: "10ms" },
      run: async (ms: number, { id, fence }) => {
        const visit = { id, queue: lock, pools: { [lock]: 1 }, epoch: index * A_STORE + fence };
        await visitor?.visit(visit, async () => {
          await sleep(ms);
        });
      },
    });
  const [red, blue] = [inside("sem/red/s"), inside("mtx/blue/m")];
  return defineApp({
    tasks: [red, blue],
    workflows: [
      workflow({
        id: "sem/red/s",
        input: z.number(),
        semaphores: [{ name: "s", namespace: "red", database: true }],
        steps: (s, ms) => {
          s.step("inside", red, ms);
        },
      }),
      workflow({
        id: "mtx/blue/m",
        input: z.number(),
        mutexes: [{ name: "m", namespace: "blue", database: true }],
        steps: (s, ms) => {
          s.step("inside", blue, ms);
        },
      }),
    ],
    runs: { max: 20 },
    session: { lease: "1500ms", heartbeat: "400ms" },
    sync: {
      url,
      controllerName: name,
      pollSeconds: 0.15,
      heartbeatSeconds: 1,
      inactiveControllerSeconds: 30,
    },
  });
}
