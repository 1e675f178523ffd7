/** The real environment: the clocks, the randomness and the timers of this process. */
import { randomBytes } from "node:crypto";
import type { Env } from "./env.ts";
import { Ids } from "./ids.ts";
import { after, sleep } from "./timers.ts";

export function hostEnv(): Env {
  const ids = new Ids();
  return {
    monotonic: () => performance.now(),
    wall: () => Date.now(),
    random: () => Math.random(),
    newId: () => ids.next(Date.now(), () => randomBytes(8)),
    after,
    sleep: (ms) => sleep(ms),
  };
}
