/**
 * Turns a workflow of a checked app into the graph of a run, with every choice made and every default filled
 * in.
 */
import type { App } from "../app/app.ts";
import { APP_DEFAULTS } from "../app/app.ts";
import { asksFor } from "../gate/asks.ts";
import type { Ask } from "../gate/gate.ts";
import { runsKey, tagKey } from "../gate/key.ts";
import type { AnyTask } from "../task/definition.ts";
import { storedHandler } from "../task/handler.ts";
import { retryPolicy } from "../task/retry.ts";
import type { Duration } from "../time.ts";
import { parseDuration } from "../time.ts";
import type { AnyWorkflow } from "./definition.ts";
import type { PlannedEach } from "./each.ts";
import { gateOf, podOf, withCpus } from "./executor.ts";
import type { Graph, GraphEach, GraphStep, RunGate, TaskStep } from "./graph.ts";
import type { PlannedTaskStep } from "./steps.ts";
import { waitStep } from "./wait-step.ts";

interface Machine {
  /** The number of CPUs of the process that submits the run. */
  readonly cpus: number;
}

/** Tasks are looked up by ID, so the app's own version of a task counts. */
export function graphOf(workflow: AnyWorkflow, app: App, { cpus }: Machine): Graph {
  const gates = new Map<string, RunGate>();
  const steps = workflow.plan.steps.map((step): GraphStep => {
    if (step.kind === "wait") return waitStep(step);
    const task = app.tasks.get(step.task.id) ?? step.task;
    const executor = step.options.executor ?? workflow.executor ?? app.executor;
    const gate = withCpus(gateOf(executor, task), cpus);
    gates.set(gate.name, gate);
    return { ...called(step, task), gate: gate.name, pod: podOf(executor) };
  });
  return {
    workflow: workflow.id,
    steps,
    output: workflow.plan.output,
    failFast: workflow.failFast ?? false,
    timeoutMs: millis(workflow.timeout),
    gates: [...gates.values()],
  };
}

/** How many CPU-bound steps of a run of this app may work at once. By default one per CPU. */
export function mostWorkers(app: App, { cpus }: Machine): number {
  const gates = [...app.workflows.values()].flatMap((workflow) => graphOf(workflow, app, { cpus }).gates);
  return Math.max(cpus, ...gates.flatMap(({ name, limit }) => (name === "workers" ? [limit] : [])));
}

/** The step's own options come first, then those of its task. */
function called(
  { name, input, each, needs, when, options }: PlannedTaskStep,
  task: AnyTask,
): Omit<TaskStep, "gate" | "pod"> {
  const handler = storedHandler(task.onFailure, { kind: "task", name: task.id });
  const pools = options.pools ?? (typeof task.pools === "function" ? {} : task.pools);
  return {
    name,
    task: task.id,
    queue: options.queue ?? task.queue ?? APP_DEFAULTS.queue,
    priority: options.priority ?? task.priority ?? null,
    input,
    each: each && eachOf(each),
    needs,
    when,
    asks: asksFor({ pools, mutexes: options.mutexes }).map(({ gate, slots }) => [gate, slots]),
    retry: retryPolicy(options.retry ?? task.retry),
    timeoutMs: millis(options.timeout ?? task.timeout),
    ...(handler ? { onFailure: handler } : {}),
    mayFail: options.mayFail ?? false,
  };
}

function eachOf({ items, concurrency = null, onFailure = "run-all" }: PlannedEach): GraphEach {
  return { items, concurrency, onFailure };
}

/** A run's tags: those of its workflow and those of its submission. The submission wins. */
export function runTags(
  workflow: AnyWorkflow,
  tags: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return { ...workflow.tags, ...tags };
}

/** The slots that a run asks for before it starts, and holds until it ends. */
export function runAsks(workflow: AnyWorkflow, tags: Readonly<Record<string, string>> = {}): Ask[] {
  const ofTags = Object.entries(runTags(workflow, tags)).flatMap(([key, value]) => [
    { gate: tagKey(key), slots: 1 },
    { gate: tagKey(key, value), slots: 1 },
  ]);
  return [{ gate: runsKey, slots: 1 }, ...ofTags, ...asksFor(workflow)];
}

function millis(duration: Duration | undefined): number | null {
  return duration === undefined ? null : parseDuration(duration);
}
