/**
 * SIGTERM: no worker leaves later than its grace period, and claims that had not started go back without
 * losing an attempt.
 */
import type { Finding, Impairment, Stopped, Visit } from "../history.ts";
import { childDied } from "./child-death.ts";
import { impairedMs, noiseIn } from "./impaired.ts";
import type { Lives } from "./lives.ts";
import { wasReturned } from "./lives.ts";

/** How long a process may take to exit on a busy machine. */
const AFTER_GRACE_MS = 500;
/** A worker leaves a moment early, so as not to be late. */
const NEARLY = 0.9;

export interface StoppingOf {
  readonly stopped: readonly Stopped[];
  readonly lives: Lives;
  readonly visits: readonly Visit[];
  readonly impairments: readonly Impairment[];
  readonly graceMs: number;
}

export function checkStopping({ stopped, lives, visits, impairments, graceMs }: StoppingOf): Finding {
  const violations: string[] = [];
  const begun = new Set(visits.map(({ epoch }) => epoch));
  const others = impairments.filter(({ why }) => why !== "told to stop" && why !== "noise");
  const lastSession = new Map([...lives.sessions.values()].map(({ pid, id }) => [pid, id]));
  let returned = 0;
  let slowest = 0;
  let judged = 0;
  let atTheEnd = 0;
  for (const { pid, told, gone, code } of stopped) {
    // If the store was away meanwhile, or the worker was killed, the rules do not apply.
    if (impairedMs(others, [pid], { from: told, to: gone }) > 0) continue;
    judged += 1;
    const noise = noiseIn(impairments, { from: told, to: gone });
    const took = gone - told - noise;
    slowest = Math.max(slowest, took);
    if (took > graceMs + AFTER_GRACE_MS)
      violations.push(`pid ${pid} left ${Math.round(took)}ms after it was told to`);
    // A worker that has not reported everything when its grace is nearly over says so by its exit code.
    const isOver = code === "1" && gone - told >= graceMs * NEARLY;
    if (isOver) atTheEnd += 1;
    if (code !== "0" && !isOver) violations.push(`pid ${pid} was told to stop and ended with ${code}`);
    // If the machine itself used up the grace period, it was too short to give everything back.
    if (isOver && noise > 0) continue;
    for (const life of lives.claims) {
      if (lives.sessions.get(life.session)?.pid !== pid || begun.has(life.epoch)) continue;
      // A claim that ended before the signal is not concerned. Any other that never reached code must be
      // given back.
      if ((life.ended ?? Number.POSITIVE_INFINITY) < told) continue;
      // The worker had opened a new session since, so this one's lease was lost. checkLeases judges whether
      // it had a cause.
      if (lastSession.get(pid) !== life.session) continue;
      if (wasReturned(life)) returned += 1;
      else if (!childDied({ impairments, visits }, pid, life.endStamp ?? 0))
        violations.push(
          `${life.task} (epoch ${life.epoch}) had not begun when pid ${pid} was told to stop, and lost an attempt`,
        );
    }
  }
  return {
    check: "told to stop",
    figures: `${stopped.length} told, ${judged} of them undisturbed: slowest ${Math.round(slowest)}ms of ${graceMs}ms grace, ${returned} unstarted claims given back, ${atTheEnd} ended by the end of grace`,
    violations,
  };
}
