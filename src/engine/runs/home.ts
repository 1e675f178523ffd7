/** A run as the home of its steps: where it stands in its tree, and which gates its steps ask for. */
import { SluiceError } from "../../core/error.ts";
import type { StoredAsk } from "../../core/gate/asks.ts";
import { storedAsk } from "../../core/gate/asks.ts";
import type { Ask } from "../../core/gate/gate.ts";
import { childrenKey, leavesKey, nestedKey, runGateKey } from "../../core/gate/key.ts";
import { gateTitle } from "../../core/gate/kind.ts";
import { isLock } from "../../core/gate/lock.ts";
import { isMutex } from "../../core/gate/reason.ts";
import type { Nesting } from "../../core/unit-options.ts";
import { storedOptions } from "../../core/unit-options.ts";
import type { Graph, RunGate, TaskStep, UnitStep } from "../../core/workflow/graph.ts";
import { asksNow } from "../../core/workflow/locks.ts";
import type { Values } from "../../core/workflow/template.ts";
import type { RunSeen } from "../../store/runs.ts";

export interface Home extends Nesting {
  readonly run: RunSeen;
  /** The namespace of its locks. */
  readonly namespace: string;
  /** The locks that it and the runs above it hold, by gate. */
  readonly holds: ReadonlyMap<string, number>;
  /** The gates that its tasks ask for because of their place in the tree. */
  readonly ofLeaves: readonly string[];
  /** True if nothing new starts in the run after a failure. */
  readonly failFast: boolean;
}

const OF_EXECUTORS: readonly RunGate["name"][] = ["in-process", "workers", "async", "pods"];

export function homeOf(run: RunSeen, graph: Graph): Home {
  const { id } = run;
  const above: Nesting = storedOptions(run.options).scope ?? {
    root: id,
    owner: id,
    depth: 0,
    leaves: [],
    path: "",
  };
  const has = (name: RunGate["name"]): boolean => graph.gates.some((gate) => gate.name === name);
  const owner = OF_EXECUTORS.some(has) ? id : above.owner;
  const leaves = [...above.leaves, ...(has("leaves") ? [leavesKey(id)] : [])];
  const counts = graph.gates.some(({ name, limit }) => name === "children" && limit >= 0);
  const ofLeaves = [
    ...leaves,
    // A group's limit counts its direct children: tasks, and whatever is nested.
    ...(counts ? [childrenKey(id)] : []),
    // So that every task of a tree asks for a gate of its root. A pause closes these gates.
    ...(owner === above.root ? [] : [nestedKey(above.root)]),
  ];
  const holds = new Map((storedOptions(run.options).holds ?? []).map(([gate, slots]) => [gate, slots]));
  return {
    ...above,
    run,
    holds,
    namespace: run.namespace,
    owner,
    leaves,
    ofLeaves,
    failFast: graph.failFast,
  };
}

/** The step with the asks for its locks, whose names are known now. Throws if one of them is not a name. */
export function withLocks<Step extends UnitStep>(home: Home, step: Step, values: Values): Step {
  if (!step.locks) return step;
  const asks = asksNow(step, namespaceOf(home, step), values);
  refuseHeld(home, step, asks);
  return { ...step, asks: [...step.asks, ...asks.map(storedAsk)] };
}

/**
 * A run ends only after its steps, so a step never gets a mutex that its run holds. Only the names that a run makes are
 * new here: the check of the app has refused the others.
 */
function refuseHeld({ holds }: Home, step: UnitStep, asks: readonly Ask[]): void {
  if (step.kind === "run" && step.detached?.wait === false) return;
  const held = asks.find(({ gate }) => isMutex(gate) && holds.has(gate));
  if (held)
    throw new SluiceError(
      "SELF_DEADLOCK",
      `step "${step.name}": ${gateTitle(held.gate)} is held by this run or a run above it until it ends, so this step could never start. Ask with the outer one or with the inner one, not with both.`,
      { details: { gate: held.gate } },
    );
}

/** The locks that are held while a child of this step is in progress. */
export function heldBelow({ holds }: Home, step: UnitStep): StoredAsk[] {
  const all = new Map(holds);
  for (const [gate, slots] of step.asks) if (isLock(gate)) all.set(gate, slots + (all.get(gate) ?? 0));
  return [...all].map(([gate, slots]): StoredAsk => [gate, slots]);
}

/** The namespace of what a step starts. A child run has that of its root, a detached run may have its own. */
export const namespaceOf = ({ namespace }: Home, step: UnitStep): string =>
  (step.kind === "run" ? step.detached?.namespace : undefined) ?? namespace;

/** The gate of the executor that a step runs on. */
export const executorGate = ({ owner }: Home, step: TaskStep): string => runGateKey(owner, step.gate);

/** The path of a child below the root, for people. */
export function pathOf({ path }: Home, step: string, item: number | undefined): string {
  return `${path === "" ? "" : `${path}/`}${step}${item === undefined ? "" : `[${item}]`}`;
}
