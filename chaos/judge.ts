/** Runs all checkers on one history and keeps the files needed to find out why one failed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { LEASE_MS, TICK_MS } from "./app/limits.ts";
import { checkConservation } from "./check/conservation.ts";
import { checkFencing } from "./check/fencing.ts";
import type { Reading, Recorded } from "./check/happened.ts";
import { happened, readingOf, unitsOf } from "./check/happened.ts";
import { noiseIn } from "./check/impaired.ts";
import { checkLeases } from "./check/leases.ts";
import { checkMarks } from "./check/marks.ts";
import type { Outage } from "./check/outage.ts";
import { checkOutage } from "./check/outage.ts";
import { checkOutcomes } from "./check/outcomes.ts";
import { checkOverlap } from "./check/overlap.ts";
import type { Healing } from "./check/quiescence.ts";
import { checkQuiescence } from "./check/quiescence.ts";
import { checkRuns } from "./check/runs.ts";
import { checkSnapshots } from "./check/snapshots.ts";
import { checkStopping } from "./check/stopping.ts";
import type { Owed } from "./check/ticks.ts";
import { checkTicks } from "./check/ticks.ts";
import { checkVacuity } from "./check/vacuity.ts";
import type { Acked, Finding, Impairment, Ordered, Snapshot, Stopped, Visit } from "./history.ts";
import type { StoreName } from "./place/place.ts";
import { GRACE_MS } from "./stage.ts";

export interface Evidence extends Recorded {
  readonly snapshots: readonly Snapshot[];
  readonly impairments: readonly Impairment[];
  readonly stopped: readonly Stopped[];
  readonly crashed: readonly string[];
  readonly acked: readonly Acked[];
  readonly ordered: readonly Ordered[];
  readonly cancelled: ReadonlySet<string>;
  readonly healing: Healing;
  readonly away: Outage | undefined;
  readonly owed: Owed;
}

export interface Verdict {
  readonly store: StoreName;
  readonly faults: string;
  readonly findings: readonly Finding[];
  readonly ok: boolean;
}

export function judge(of: Evidence): Verdict {
  const { audit, tables, effects, impairments, done } = of;
  const units = unitsOf(tables);
  const reading = readingOf(audit, tables);
  const { lives, sweep, lanes } = reading;
  const visits = of.visits.map((visit) => withAsks(visit, reading));
  const runs = checkRuns({ audit, tables, ordered: of.ordered, cancelled: of.cancelled });
  const marks = checkMarks({ visits, effects, tables, ordered: of.ordered });
  const ticks = checkTicks(tables, TICK_MS, of.owed);
  const overlap = checkOverlap({ visits, effects, impairments, lives, sweep, leaseMs: LEASE_MS });
  const leases = checkLeases({ lives, visits, impairments, leaseMs: LEASE_MS });
  const fencing = checkFencing(lives, effects);
  const ended = tables.outcomes.filter(({ id }) => units.has(id));
  const outcomes = checkOutcomes(audit, { ...tables, outcomes: ended }, lives, effects);
  const findings: Finding[] = [
    sweep,
    checkSnapshots(of.snapshots, sweep, lanes),
    overlap,
    leases,
    checkConservation(of.acked, tables),
    fencing,
    outcomes,
    runs,
    ticks,
    marks,
    checkStopping({ stopped: of.stopped, lives, visits, impairments, graceMs: GRACE_MS }),
    ...(of.away ? [checkOutage(of.away)] : []),
    checkQuiescence(of.healing, tables),
    { check: "no process crashed", figures: `${of.crashed.length}`, violations: of.crashed },
    checkVacuity(happened(of, reading)),
  ];
  keep(of, findings);
  const ok = findings.every(({ violations }) => violations.length === 0);
  return { store: of.store, faults: `${done}; ${busyFor(impairments)}`, findings, ok };
}

/** This time does not count in checks that depend on the clock. */
function busyFor(impairments: readonly Impairment[]): string {
  const ms = noiseIn(impairments, { from: 0, to: Number.POSITIVE_INFINITY });
  return `the machine was too busy for ${(ms / 1_000).toFixed(1)}s`;
}

/**
 * The code reports what its task asks for. The rest of its step's asks are added: window and mutexes.
 */
function withAsks(visit: Visit, { lives, lanes }: Reading): Visit {
  const asks = lanes.get(lives.byEpoch.get(visit.epoch)?.lane ?? "");
  return { ...visit, gates: { ...visit.gates, ...asks } };
}

function keep(of: Evidence, findings: readonly Finding[]): void {
  const lines = (list: readonly unknown[]): string =>
    list.map((each) => `${JSON.stringify(each)}\n`).join("");
  const put = (name: string, text: string): void => writeFileSync(join(of.folder, name), text);
  put("audit.jsonl", lines(of.audit));
  put("snapshots.jsonl", lines(of.snapshots));
  put("impairments.jsonl", lines(of.impairments));
  put("tables.json", JSON.stringify({ ...of.tables, lanes: Object.fromEntries(of.tables.lanes) }));
  put("findings.json", JSON.stringify(findings, ["check", "figures", "violations"], 2));
}
