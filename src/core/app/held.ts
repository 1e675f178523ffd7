/**
 * No unit may wait for something that a run above it holds, because that run ends only after the unit. The walk follows
 * the nesting through groups and workflows. Each conflict is reported once: for the innermost workflow with both sides.
 */

import type { AnyWorkflow } from "../workflow/definition.ts";
import type { PlannedRun, PlannedStep, StepPlan } from "../workflow/steps.ts";
import { poolsOf } from "./app-pools.ts";
import type { AppDefinition } from "./definition.ts";
import { neverFits } from "./pools.ts";
import type { Problems } from "./rule.ts";
import { entriesOf } from "./rule.ts";
import { workflowOf } from "./run-steps.ts";

/** What the runs above a step hold. */
interface Held {
  /** The holder of each mutex, as sentences name it. */
  readonly mutexes: ReadonlyMap<string, string>;
  readonly pools: ReadonlyMap<string, number>;
  /** Held by child workflows above the step. Their own walk reports what does not fit without the outer ones. */
  readonly inner: ReadonlyMap<string, number>;
}

/** What a step asks for, and how sentences name it. */
interface Asks {
  readonly mutexes: readonly string[];
  readonly pools: ReadonlyMap<string, number>;
}

export function* heldProblems(name: string, workflow: AnyWorkflow, definition: AppDefinition): Problems {
  const { mutexes, pools } = asksOf(workflow);
  const held = {
    mutexes: new Map(mutexes.map((mutex) => [mutex, "the run itself"])),
    pools,
    inner: new Map(),
  };
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
  const own = asksOf(options);
  const ofWorkflow = asksOf(workflow ?? {});
  yield* conflicts(field, together(own, ofWorkflow), held, definition);
  if (path.includes(plan)) return;
  const who = calls.group ? `group "${step.name}"` : `step "${step.name}"`;
  const mutexes = new Map([...held.mutexes, ...own.mutexes.map((mutex) => [mutex, who] as const)]);
  const pools = sum(held.pools, own.pools);
  const inner = workflow ? sum(held.inner, ofWorkflow.pools) : held.inner;
  const nested = { mutexes, pools, inner };
  yield* below(field, plan, nested, definition, [...path, plan]);
}

function* conflicts(field: string, asks: Asks, held: Held, definition: AppDefinition): Problems {
  for (const mutex of asks.mutexes.filter((each) => held.mutexes.has(each)))
    yield {
      field: `${field}.mutexes`,
      rule: `"${mutex}" is held by ${held.mutexes.get(mutex)} until it ends, so this step could never start`,
      cure: held.mutexes.get(mutex) === "the run itself" ? OF_RUN : OF_OUTER,
    };
  for (const [ask, slots] of asks.pools)
    yield* tooMany(`${field}.pools.${ask}`, ask, slots, held, definition);
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
  // Nothing adds up with a reference.
  if (typeof slots !== "number") return;
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

const asksOfTask = ({ options, task }: Extract<PlannedStep, { kind?: undefined }>): Asks =>
  asksOf({ mutexes: options.mutexes, pools: options.pools ?? task.pools });

/** The fields may be wrong; other rules say so. */
const asksOf = ({ mutexes, pools }: { readonly mutexes?: unknown; readonly pools?: unknown }): Asks => ({
  mutexes: Array.isArray(mutexes) ? mutexes : [],
  pools: new Map(entriesOf(pools) as [string, number][]),
});

const together = (a: Asks, b: Asks): Asks => ({
  mutexes: [...new Set([...a.mutexes, ...b.mutexes])],
  pools: sum(a.pools, b.pools),
});

function sum(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const all = new Map(a);
  for (const [ask, slots] of b) all.set(ask, (all.get(ask) ?? 0) + slots);
  return all;
}
