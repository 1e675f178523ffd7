/** The doctor: whether what the store remembers is what it promises, and whether what it stands on lets it. */
import { sleep as hostSleep } from "../../env/timers.ts";
import type { Inspection, Store } from "../../store/store.ts";
import { asideCheck } from "./aside.ts";
import type { Check, Verdict } from "./check.ts";
import { checkOf } from "./check.ts";
import { clockCheck } from "./clock.ts";
import { appsCheck } from "./declared.ts";
import { invariantChecks } from "./invariants.ts";
import { missingCheck } from "./missing.ts";
import { limitsCheck } from "./over.ts";
import { replacedCheck } from "./replaced.ts";
import { settingChecks } from "./settings.ts";
import { A_POLL_MS, recoveryCheck, stillLost, stoppingCheck, workersCheck } from "./workers.ts";

export interface Diagnosis {
  readonly kind: string;
  /** When it was looked at, by the store's clock. */
  readonly at: number;
  /** The worst of all checks; `fail` is a broken invariant. */
  readonly verdict: Verdict;
  readonly checks: readonly Check[];
}

export interface Doctoring {
  readonly sleep?: (ms: number) => Promise<void>;
  readonly wall?: () => number;
}

export async function examine(store: Store, doctoring: Doctoring = {}): Promise<Diagnosis> {
  const { sleep = hostSleep, wall = Date.now } = doctoring;
  const clock = await clockCheck(store, wall);
  const seen = await settled(store, await store.inspect(), sleep);
  const [replaced, waiting] = await Promise.all([store.replaced(), store.waiting()]);
  const checks = [
    limitsCheck(seen),
    appsCheck(seen),
    replacedCheck(seen, replaced, waiting),
    missingCheck(seen, waiting),
    ...invariantChecks(seen),
    recoveryCheck(seen),
    stoppingCheck(seen),
    workersCheck(seen),
    asideCheck(seen),
    ...settingChecks(store, seen.settings),
    clock,
    checkOf("schema", [], `version ${seen.schema}`),
    checkOf("size", [], sizeOf(seen)),
  ];
  const worst = (["fail", "warn"] as const).find((each) => checks.some(({ verdict }) => verdict === each));
  return { kind: store.kind, at: seen.now, verdict: worst ?? "ok", checks };
}

/** Whoever is gone may be gone for a moment only: where somebody could have recovered its claims, look twice. */
async function settled(
  store: Store,
  seen: Inspection,
  sleep: (ms: number) => Promise<void>,
): Promise<Inspection> {
  if (seen.lost.length === 0 || seen.sessions.length === 0) return seen;
  await sleep(A_POLL_MS);
  return stillLost(seen, await store.inspect());
}

function sizeOf({ rows }: Inspection): string {
  const { waiting, later, running, outcome, event } = rows;
  return `${waiting} waiting, ${later} later, ${running} running, ${outcome} outcomes, ${event} events`;
}
