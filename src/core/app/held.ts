/**
 * No unit may wait for something that a run above it holds, because that run ends only after the unit. The walk follows
 * the nesting through groups and workflows. Each conflict is reported once: for the innermost workflow with both sides.
 */

import type { Lock } from "../gate/lock.ts";
import { isText, locksOf } from "../gate/lock.ts";
import type { AnyWorkflow } from "../workflow/definition.ts";
import type { PlannedRun, PlannedStep, StepPlan } from "../workflow/steps.ts";
import { poolsOf } from "./app-pools.ts";
import type { AppDefinition } from "./definition.ts";
import { neverFits } from "./pools.ts";
import type { Problems } from "./rule.ts";
import { entriesOf } from "./rule.ts";
import { workflowOf } from "./run-steps.ts";
import { declaredLimit } from "./semaphores.ts";

/** What the runs above a step hold. */
interface Held {
  /** What is held of each lock, and by whom, as sentences name it. */
  readonly locks: ReadonlyMap<string, HeldLock>;
  readonly pools: ReadonlyMap<string, number>;
  /** Held by child workflows above the step. Their own walk reports what does not fit without the outer ones. */
  readonly inner: ReadonlyMap<string, number>;
}

interface HeldLock {
  readonly slots: number;
  readonly who: string;
}

/** What a step asks for, and how sentences name it. */
interface Asks {
  readonly locks: ReadonlyMap<string, Lock>;
  readonly pools: ReadonlyMap<string, number>;
}

export function* heldProblems(name: string, workflow: AnyWorkflow, definition: AppDefinition): Problems {
  const { locks, pools } = asksOf(workflow, locksOf(workflow, isText));
  const held = { locks: holding(new Map(), locks, "the run itself"), pools, inner: new Map() };
  yield* below(name, workflow.plan, held, definition, [workflow.plan]);
}

function* below(
  name: string,
  plan: StepPlan,
  held: Held,
  definition: AppDefinition,
  path: readonly StepPlan[],
): Problems {
  for (const step of plan.steps) {
    const field = `${name}.steps.${step.name}`;
    if (step.kind === undefined) yield* conflicts(field, asksOfTask(step), held, definition);
    else if (step.kind === "run") yield* ofRun(field, step, held, definition, path);
  }
}

function* ofRun(
  field: string,
  step: PlannedRun,
  held: Held,
  definition: AppDefinition,
  path: readonly StepPlan[],
): Problems {
  const { calls, options } = step;
  // A step that does not wait for its run keeps nothing from it.
  if (typeof options.detached === "object" && options.detached.wait === false) return;
  const workflow = workflowOf(step);
  const plan = calls.group ?? workflow?.plan;
  if (!plan) return;
  const own = asksOf(options, step.locks);
  const ofWorkflow = asksOf(workflow ?? {}, locksOf(workflow ?? {}, isText));
  yield* conflicts(field, together(own, ofWorkflow), held, definition);
  if (path.includes(plan)) return;
  const who = calls.group ? `group "${step.name}"` : `step "${step.name}"`;
  const locks = holding(held.locks, own.locks, who);
  const pools = sum(held.pools, own.pools);
  const inner = workflow ? sum(held.inner, ofWorkflow.pools) : held.inner;
  const nested = { locks, pools, inner };
  yield* below(field, plan, nested, definition, [...path, plan]);
}

function* conflicts(field: string, asks: Asks, held: Held, definition: AppDefinition): Problems {
  for (const [key, lock] of asks.locks) yield* selfDeadlock(field, lock, held.locks.get(key), definition);
  for (const [ask, slots] of asks.pools)
    yield* tooMany(`${field}.pools.${ask}`, ask, slots, held, definition);
}

/** A mutex has one slot. The limit of a semaphore is known here only if the app declares it. */
function* selfDeadlock(
  field: string,
  { kind, name, namespace, slots }: Lock,
  held: HeldLock | undefined,
  definition: AppDefinition,
): Problems {
  if (!held) return;
  const limit = kind === "mutex" ? 1 : declaredLimit(definition, name, namespace);
  if (limit === undefined || !neverFits(held.slots + slots, limit)) return;
  const what = kind === "mutex" ? `"${name}"` : `${held.slots} of ${limit} slots of "${name}"`;
  yield {
    field: `${field}.${kind === "mutex" ? "mutexes" : "semaphores"}`,
    rule: `${what} ${what.includes(" of ") ? "are" : "is"} held by ${held.who} until it ends, so this step could never start`,
    cure: held.who === "the run itself" ? OF_RUN : OF_OUTER,
  };
}

const OF_RUN = "Name it with the workflow or with the step, not with both";
const OF_OUTER = "Name it with the outer one or with the inner one, not with both";

/** Another rule already reports an ask that does not fit on its own. */
function* tooMany(
  field: string,
  ask: string,
  slots: number,
  held: Held,
  definition: AppDefinition,
): Problems {
  const [name = ""] = ask.split("=", 1);
  const limit = poolsOf(definition)?.[name]?.limit;
  const outer = held.pools.get(ask) ?? 0;
  const inner = slots + (held.inner.get(ask) ?? 0);
  if (!outer || limit === undefined || neverFits(inner, limit) || neverFits(outer, limit)) return;
  const all = inner + outer;
  if (neverFits(all, limit))
    yield {
      field,
      rule: `pool "${ask}": this step asks for ${slots} while its run holds ${all - slots}, but the limit is ${limit}, so it could never start`,
      cure: `Ask with the workflow or with the step, or set pools.${name}.limit to ${all}`,
    };
}

const asksOfTask = ({ options, task, locks = [] }: Extract<PlannedStep, { kind?: undefined }>): Asks =>
  asksOf({ pools: options.pools ?? task.pools }, [...locksOf(task, isText), ...locks]);

/** The fields may be wrong; other rules say so. */
const asksOf = ({ pools }: { readonly pools?: unknown }, locks: readonly Lock<unknown>[] = []): Asks => ({
  locks: new Map(locks.flatMap((lock) => (isFixed(lock) ? [[keyOf(lock), lock]] : []))),
  pools: new Map(entriesOf(pools) as [string, number][]),
});

/** A name that refers to a value is known only in the run, and checked there. */
const isFixed = (lock: Lock<unknown>): lock is Lock =>
  isText(lock.name) && (lock.namespace === null || isText(lock.namespace));

const keyOf = ({ kind, name, namespace, database }: Lock): string =>
  JSON.stringify([kind, name, namespace, database === true]);

const together = (a: Asks, b: Asks): Asks => ({
  locks: new Map([...a.locks, ...b.locks]),
  pools: sum(a.pools, b.pools),
});

function holding(held: Held["locks"], locks: Asks["locks"], who: string): ReadonlyMap<string, HeldLock> {
  const all = new Map(held);
  for (const [key, { slots }] of locks) all.set(key, { slots: slots + (all.get(key)?.slots ?? 0), who });
  return all;
}

function sum(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const all = new Map(a);
  for (const [ask, slots] of b) all.set(ask, (all.get(ask) ?? 0) + slots);
  return all;
}
