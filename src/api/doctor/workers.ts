/** Checks that every waiting task has a live worker, and that dead workers have left nothing behind. */
import { describe, sayStopping } from "../../core/gate/describe.ts";
import { runsKey } from "../../core/gate/key.ts";
import { remedy } from "../../core/gate/remedy.ts";
import { sayDuration } from "../../core/time.ts";
import { doesServe, isAtWork } from "../../engine/claiming/serving.ts";
import type { Inspection, LostClaim } from "../../store/store.ts";
import { isRunQueue, RUNS } from "../../store/store.ts";
import type { Check, Finding } from "./check.ts";
import { checkOf, many, warning } from "./check.ts";

/** A live worker looks about once a second. A loss that is more recent than this needs no attention. */
export const A_POLL_MS = 2_000;
const TOO_LONG_MS = 60_000;

/** Finds claims that were lost more than a moment ago and not recovered yet. They count at no gate. */
export function recoveryCheck(seen: Inspection): Check {
  const lost = seen.lost.filter(({ forMs }) => forMs === null || forMs >= A_POLL_MS);
  const stuck = lost.filter((claim) => isStuck(claim, seen));
  const rest = lost.filter((claim) => !stuck.includes(claim));
  const findings: Finding[] = [];
  if (stuck.length > 0)
    findings.push({
      ...listing(stuck),
      verdict: "fail",
      text: `claims of workers that have been gone for more than ${sayDuration(TOO_LONG_MS)}, though a live worker serves them`,
      cure: "A live worker should have recovered them with its next pass. Restart the workers, keep their logs, and report it",
    });
  if (rest.length > 0)
    findings.push({
      ...listing(rest),
      ...warning(
        "claims of workers that are gone",
        seen.sessions.length > 0
          ? "They no longer count at any gate, and the next pass recovers them"
          : "They no longer count at any gate, and the first pass of a worker recovers them",
        seen.sessions.length > 0 ? undefined : { action: "startWorker" },
      ),
    });
  return checkOf("recovery", findings, "no claim without a live worker");
}

/** Code that was told to stop and still runs holds its slots. After a while, an operator should look at it. */
export function stoppingCheck({ stopping, now }: Inspection): Check {
  // A run has no code of its own. It waits for its steps, which are listed separately.
  const code = stopping.filter(({ session }) => session !== RUNS);
  const long = code.filter(({ since }) => now - since > TOO_LONG_MS);
  const findings = long.map((row): Finding => {
    const where = row.worker === null ? "a worker that is gone" : `worker ${row.worker}`;
    return {
      ...warning(
        `${row.name} ${row.id} on ${where}: ${sayStopping(row, now)}, and it holds its slots until its code has ended`,
        "Code in the worker's own process cannot be ended from outside: make it listen to its signal, or stop that worker",
      ),
      ids: [row.id],
    };
  });
  const well = code.length === 0 ? "no code is stopping" : `${code.length} stopping, none for long`;
  return checkOf("stopping", findings, well);
}

/** Every worker process has a coordinator, which admits all runs. */
function isServedBy(
  { serves }: Inspection["sessions"][number],
  lane: { readonly queue: string; readonly task: string },
): boolean {
  return isRunQueue(lane.queue) ? isAtWork({ serves }) : doesServe(serves, lane);
}

/** True if a live worker has served the claim's lane for long enough to have recovered the claim. */
function isStuck(claim: LostClaim, { now, sessions }: Inspection): boolean {
  const serving = sessions.filter((session) => isServedBy(session, claim));
  const served = Math.max(...serving.map(({ startedAt }) => now - startedAt), 0);
  return served > TOO_LONG_MS && (claim.forMs === null || claim.forMs > TOO_LONG_MS);
}

const listing = (claims: readonly LostClaim[]): { ids: string[]; more: boolean } => ({
  ids: claims.slice(0, 10).map(({ id }) => id),
  more: claims.length > 10,
});

/** Keeps the claims that were lost at both looks. A loss without a date may be only a moment old. */
export function stillLost(before: Inspection, after: Inspection): Inspection {
  const known = new Set(before.lost.map(({ epoch }) => epoch));
  return { ...after, lost: after.lost.filter(({ epoch }) => known.has(epoch)) };
}

/** Without a live worker, admitted runs do not advance, even if none of their steps is in line. */
function standstill({ sessions, gates, waiting }: Inspection): Finding[] {
  const { held = 0 } = gates.find(({ key }) => key === runsKey) ?? {};
  if (held === 0 || sessions.some(isAtWork) || waiting.some(({ queue }) => isRunQueue(queue))) return [];
  const reason = { kind: "noWorker", queue: RUNS, name: "" } as const;
  return [
    warning(
      `${many(held, "run")} in progress: ${describe(reason, { now: 0 })}`,
      "Start a worker",
      remedy(reason),
    ),
  ];
}

export function workersCheck(seen: Inspection): Check {
  const { sessions, waiting } = seen;
  const alone = waiting.filter((lane) => !sessions.some((session) => isServedBy(session, lane)));
  const findings = alone.map(({ queue, task, units }): Finding => {
    const reason = { kind: "noWorker", queue, name: task } as const;
    return warning(
      `${units} waiting: ${describe(reason, { now: 0 })}`,
      "Start a worker that does",
      remedy(reason),
    );
  });
  findings.push(...standstill(seen));
  const working = sessions.filter(isAtWork);
  const slots = working.reduce((sum, session) => sum + session.slots, 0);
  const leaving = sessions.length - working.length;
  const served =
    working.length === 0
      ? "no live worker, and nothing waits for one"
      : `${many(working.length, "live worker")} with ${many(slots, "slot")}, and every task in line is served`;
  const alive = leaving === 0 ? served : `${served}; ${many(leaving, "worker")} stopping`;
  return checkOf("workers", findings, alive);
}
