/** A run as the home of its steps: where it stands in its tree, and which gates its steps ask for. */
import { storedAsk } from "../../core/gate/asks.ts";
import { childrenKey, DEFAULT_NAMESPACE, leavesKey, runGateKey } from "../../core/gate/key.ts";
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
    ...(owner === above.root ? [] : [runGateKey(above.root, "nested")]),
  ];
  return { ...above, run, namespace: DEFAULT_NAMESPACE, owner, leaves, ofLeaves, failFast: graph.failFast };
}

/** The step with the asks for its locks, whose names are known now. Throws if one of them is not a name. */
export function withLocks<Step extends UnitStep>({ namespace }: Home, step: Step, values: Values): Step {
  if (!step.locks) return step;
  return { ...step, asks: [...step.asks, ...asksNow(step, namespace, values).map(storedAsk)] };
}

/** The gate of the executor that a step runs on. */
export const executorGate = ({ owner }: Home, step: TaskStep): string => runGateKey(owner, step.gate);

/** The path of a child below the root, for people. */
export function pathOf({ path }: Home, step: string, item: number | undefined): string {
  return `${path === "" ? "" : `${path}/`}${step}${item === undefined ? "" : `[${item}]`}`;
}
