/** The doctor checks that the rows of a store keep our promises, and that the settings of its database allow it. */
import { sleep as hostSleep } from "../../env/timers.ts";
import type { Inspection, Store } from "../../store/store.ts";
import type { SharedAccess } from "../shared-access.ts";
import { asideCheck } from "./aside.ts";
import type { Check, Verdict } from "./check.ts";
import { checkOf } from "./check.ts";
import { clockCheck } from "./clock.ts";
import { controllerChecks } from "./controllers.ts";
import { appsCheck } from "./declared.ts";
import { invariantChecks } from "./invariants.ts";
import { missingCheck } from "./missing.ts";
import { limitsCheck } from "./over.ts";
import { replacedCheck } from "./replaced.ts";
import { settingChecks } from "./settings.ts";
import { namesCheck } from "./shared-names.ts";
import { A_POLL_MS, recoveryCheck, stillLost, stoppingCheck, workersCheck } from "./workers.ts";

export interface Diagnosis {
  readonly kind: string;
  /** When the doctor looked, by the store's clock. */
  readonly at: number;
  /** The worst verdict of all checks. `fail` is a broken invariant. */
  readonly verdict: Verdict;
  readonly checks: readonly Check[];
}

export interface Doctoring {
  readonly sleep?: (ms: number) => Promise<void>;
  readonly wall?: () => number;
  readonly shared?: SharedAccess;
}

export async function examine(store: Store, doctoring: Doctoring = {}): Promise<Diagnosis> {
  const { sleep = hostSleep, wall = Date.now } = doctoring;
  const clock = await clockCheck(store, wall);
  const seen = await settled(store, await store.inspect(), sleep);
  const [replaced, apps, waiting] = await Promise.all([store.replaced(), store.apps(), store.waiting()]);
  const checks = [
    limitsCheck(seen),
    appsCheck(seen),
    namesCheck(apps),
    replacedCheck(seen, replaced, waiting),
    missingCheck(seen, waiting),
    ...invariantChecks(seen),
    recoveryCheck(seen),
    stoppingCheck(seen),
    workersCheck(seen),
    asideCheck(seen),
    ...settingChecks(store, seen.settings),
    clock,
    ...(await controllerChecks(doctoring.shared, wall)),
    checkOf("schema", [], `version ${seen.schema}`),
    checkOf("size", [], sizeOf(seen)),
  ];
  const worst = (["fail", "warn"] as const).find((each) => checks.some(({ verdict }) => verdict === each));
  return { kind: store.kind, at: seen.now, verdict: worst ?? "ok", checks };
}

/** A claim may have been lost only a moment ago. If a live worker could still recover it, the doctor looks twice. */
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
  return `${waiting} waiting, ${later} later, ${running} running, ${counted(outcome, "outcome")}, ${counted(event, "event")}`;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
