/** Counts what a run has met so far, in the same way while it goes on and when it is judged. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { TICK_MS } from "../app/limits.ts";
import type { Done } from "../fault/scene.ts";
import type { Asks, Audited, Effect, Tables, Visit } from "../history.ts";
import type { StoreName } from "../place/place.ts";
import type { Sweep } from "./grants.ts";
import { checkGrants, inKinds } from "./grants.ts";
import type { InsideOf } from "./inside.ts";
import { insideOf } from "./inside.ts";
import type { Lives } from "./lives.ts";
import { livesOf, wasLost } from "./lives.ts";
import { asTheAppSays, lanesOfUnits } from "./said.ts";
import { checkTicks } from "./ticks.ts";

/** How often each thing happened. Undefined if it cannot happen on this store. */
export type Happened = Readonly<Record<Quota, number | undefined>>;

export type Quota =
  | "stale writes refused"
  | "reclaims"
  | "full caps"
  | "full run caps"
  | "full tags"
  | "full windows"
  | "full mutexes"
  | "full pools"
  | "runs that succeeded"
  | "ticks"
  | "sights of the sensor"
  | "pauses inside a pass"
  | "answers to a commit lost"
  | "commits that never arrived"
  | "quarantines";

export interface Recorded {
  readonly store: StoreName;
  readonly folder: string;
  readonly audit: readonly Audited[];
  readonly tables: Tables;
  readonly visits: readonly Visit[];
  readonly effects: readonly Effect[];
  readonly done: Done;
}

export interface Reading {
  /** The claims of code. */
  readonly lives: Lives;
  /** All grants. Grants of runs count at their gates like any other. */
  readonly sweep: Sweep;
  /** The asks of each lane, with those that the app declares. */
  readonly lanes: ReadonlyMap<string, Asks>;
}

export function readingOf(audit: readonly Audited[], tables: Tables): Reading {
  const units = unitsOf(tables);
  const lives = livesOf(audit.filter((event) => !("task" in event) || units.has(event.task)));
  const said = asTheAppSays(audit, tables, lanesOfUnits(audit));
  return { lives, sweep: checkGrants(said.audit, said.lanes), lanes: said.lanes };
}

/** The units that are not runs. A run's claim has no code and belongs to no process. */
export function unitsOf({ tasks, runs }: Tables): ReadonlySet<string> {
  const ofRuns = new Set(runs.map(({ id }) => id));
  return new Set(tasks.map(({ id }) => id).filter((id) => !ofRuns.has(id)));
}

export function happened(
  { store, folder, audit, tables, visits, effects, done }: Recorded,
  { lives, sweep }: Omit<Reading, "lanes"> = readingOf(audit, tables),
): Happened {
  const full = inKinds(sweep.full);
  const hasWire = store !== "sqlite";
  const units = unitsOf(tables);
  const { ticks, sights } = checkTicks(tables, TICK_MS);
  const ended = (state: string, ofRun: boolean): number =>
    tables.outcomes.filter((outcome) => outcome.state === state && units.has(outcome.id) !== ofRun).length;
  return {
    "stale writes refused": effects.filter(({ accepted }) => !accepted).length + refusedReports(folder),
    reclaims: lives.claims.filter(wasLost).length,
    "full caps": full.get("cluster") ?? 0,
    "full run caps": full.get("runs") ?? 0,
    "full tags": full.get("tag:tenant=…") ?? 0,
    "full windows": full.get("run:…/items/list") ?? 0,
    "full mutexes": Math.min(full.get("mutex:default/stamp") ?? 0, full.get("mutex:default/solo") ?? 0),
    "full pools": fullPools({ visits, lives, sweep }),
    "runs that succeeded": ended("succeeded", true),
    ticks,
    "sights of the sensor": sights,
    "pauses inside a pass": done.of("pauses inside a pass"),
    "answers to a commit lost": hasWire ? done.of("commits whose answer was lost") : undefined,
    "commits that never arrived": hasWire ? done.of("commits that never arrived") : undefined,
    quarantines: ended("quarantined", false),
  };
}

/** How often the code inside filled a pool, by the witness. The pool that steps share must be full of them too. */
function fullPools(of: InsideOf): number {
  const { full } = insideOf(of);
  const shared = full.filter(({ gate, by }) => gate === "pool:database" && by.some(isStep));
  return Math.min(shared.length, full.filter(({ gate }) => gate === "pool:mutex").length);
}

const isStep = ({ mark }: Visit): boolean => mark !== null;

/** What should have happened by now but has not. */
export const missingIn = (so: Happened): Quota[] =>
  (Object.keys(so) as Quota[]).filter((quota) => so[quota] === 0);

/** Reports that came too late, according to the workers' own logs. */
function refusedReports(folder: string): number {
  const logs = readdirSync(folder).filter((name) => name.startsWith("worker-"));
  return logs.reduce(
    (sum, name) => sum + readFileSync(join(folder, name), "utf8").split("came too late").length - 1,
    0,
  );
}
