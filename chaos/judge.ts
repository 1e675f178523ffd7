/** All checkers on one history, and the artefacts that somebody needs who wants to know why. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LEASE_MS } from "./app/limits.ts";
import { checkConservation } from "./check/conservation.ts";
import { checkFencing } from "./check/fencing.ts";
import { checkGrants } from "./check/grants.ts";
import { checkLeases } from "./check/leases.ts";
import { livesOf } from "./check/lives.ts";
import type { Outage } from "./check/outage.ts";
import { checkOutage } from "./check/outage.ts";
import { checkOutcomes } from "./check/outcomes.ts";
import { checkOverlap } from "./check/overlap.ts";
import type { Healing } from "./check/quiescence.ts";
import { checkQuiescence } from "./check/quiescence.ts";
import { checkSnapshots } from "./check/snapshots.ts";
import { checkStopping } from "./check/stopping.ts";
import { checkVacuity } from "./check/vacuity.ts";
import type { Done } from "./fault/scene.ts";
import type {
  Acked,
  Audited,
  Effect,
  Finding,
  Impairment,
  Snapshot,
  Stopped,
  Tables,
  Visit,
} from "./history.ts";
import type { StoreName } from "./place/place.ts";
import { GRACE_MS } from "./stage.ts";

export interface Evidence {
  readonly store: StoreName;
  readonly folder: string;
  readonly audit: readonly Audited[];
  readonly tables: Tables;
  readonly visits: readonly Visit[];
  readonly effects: readonly Effect[];
  readonly snapshots: readonly Snapshot[];
  readonly impairments: readonly Impairment[];
  readonly stopped: readonly Stopped[];
  readonly crashed: readonly string[];
  readonly acked: readonly Acked[];
  readonly healing: Healing;
  readonly away: Outage | undefined;
  readonly done: Done;
}

export interface Verdict {
  readonly store: StoreName;
  readonly faults: string;
  readonly findings: readonly Finding[];
  readonly ok: boolean;
}

export function judge(of: Evidence): Verdict {
  const { audit, tables, visits, effects, impairments, done } = of;
  const lives = livesOf(audit);
  const sweep = checkGrants(audit, tables.lanes);
  const overlap = checkOverlap({ visits, effects, impairments, lives, sweep, leaseMs: LEASE_MS });
  const leases = checkLeases({ lives, visits, impairments, leaseMs: LEASE_MS });
  const fencing = checkFencing(lives, effects);
  const outcomes = checkOutcomes(audit, tables, lives, effects);
  const hasWire = of.store !== "sqlite";
  const findings: Finding[] = [
    sweep,
    checkSnapshots(of.snapshots, sweep, tables.lanes),
    overlap,
    leases,
    checkConservation(of.acked, tables),
    fencing,
    outcomes,
    checkStopping({ stopped: of.stopped, lives, visits, impairments, graceMs: GRACE_MS }),
    ...(of.away ? [checkOutage(of.away)] : []),
    checkQuiescence(of.healing, tables),
    { check: "no process crashed", figures: `${of.crashed.length}`, violations: of.crashed },
    checkVacuity({
      "stale writes refused": fencing.refused + refusedReports(of.folder),
      reclaims: leases.losses,
      "full caps": sweep.full.get("cluster") ?? 0,
      "pauses inside a pass": done.of("pauses inside a pass"),
      "answers to a commit lost": hasWire ? done.of("commits whose answer was lost") : undefined,
      "commits that never arrived": hasWire ? done.of("commits that never arrived") : undefined,
      quarantines: outcomes.states.get("quarantined") ?? 0,
    }),
  ];
  keep(of, findings);
  const ok = findings.every(({ violations }) => violations.length === 0);
  return { store: of.store, faults: String(done), findings, ok };
}

/** Reports that came too late, as workers say it themselves in their logs. */
function refusedReports(folder: string): number {
  const logs = readdirSync(folder).filter((name) => name.startsWith("worker-"));
  return logs.reduce(
    (sum, name) => sum + readFileSync(join(folder, name), "utf8").split("came too late").length - 1,
    0,
  );
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
