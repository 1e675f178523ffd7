/**
 * The graphs of a run and of everything below it. Each nested workflow and group gets a number, and a step names its
 * graph by number. So a workflow that calls itself refers back to a number, and each graph is stored once.
 */
import type { App } from "../app/app.ts";
import { asksFor } from "../gate/asks.ts";
import type { Ask } from "../gate/gate.ts";
import { UNLIMITED } from "../gate/gate.ts";
import { storedHandler } from "../task/handler.ts";
import type { AnyWorkflow } from "./definition.ts";
import type { ExecutorChoice } from "./executor.ts";
import { gateOf, podOf, withCpus } from "./executor.ts";
import type { Graph, GraphStep, Graphs, RunGate, RunGateName, RunStep, TaskStep } from "./graph.ts";
import { lockField, locksOfTask } from "./locks.ts";
import { eachOf, millis, taskStep } from "./resolve-step.ts";
import { capsOfRun } from "./run-asks.ts";
import type { PlannedRun, PlannedTask, StepPlan } from "./steps.ts";
import { waitStep } from "./wait-step.ts";

export interface Submitter {
  /** The number of CPUs of the process that submits the run. */
  readonly cpus: number;
}

/**
 * A run with gates for executors: a run of its own, or a workflow below it that chooses an executor itself. Everything
 * else below it shares its gates.
 */
interface Owner {
  readonly executor: ExecutorChoice;
  readonly gates: Map<string, RunGate>;
  /** The run at the top of the tree. Undefined if it is that run. */
  readonly root?: Owner;
}

/** A workflow or a group that becomes a graph. */
interface Planned {
  readonly name: string;
  readonly plan: StepPlan;
  readonly failFast: boolean;
  readonly timeoutMs: number | null;
  readonly parallelism: number | null;
  readonly isGroup: boolean;
}

export class Nest {
  readonly #app: App;
  readonly #machine: Submitter;
  readonly #graphs: (Graph | undefined)[] = [];
  /** The number of each plan, by the run whose gates its steps ask for. */
  readonly #numbers = new Map<Owner | "detached", Map<StepPlan, number>>();

  constructor(app: App, machine: Submitter) {
    this.#app = app;
    this.#machine = machine;
  }

  graphsOf(workflow: AnyWorkflow): Graphs {
    const root = this.#whole(workflow);
    return { root, nested: this.#graphs as Graph[] };
  }

  /** A run of its own has all the gates that anything below it asks for. */
  #whole(workflow: AnyWorkflow): Graph {
    const owner = { executor: workflow.executor ?? this.#app.executor, gates: new Map() };
    return this.#graph(ofWorkflow(workflow), owner, owner);
  }

  /** `own` has gates for executors that this very run creates. Other runs use those of the run above. */
  #graph(planned: Planned, owner: Owner, own: Owner | undefined): Graph {
    const { plan, parallelism, isGroup } = planned;
    const steps = plan.steps.map((step): GraphStep => {
      if (step.kind === "wait") return waitStep(step);
      return step.kind === undefined ? this.#taskStep(step, owner) : this.#runStep(step, owner);
    });
    const hasChildren = steps.some((step) => step.kind === "run" && !step.detached);
    const most = parallelism ?? UNLIMITED;
    return {
      workflow: planned.name,
      steps,
      output: plan.output,
      failFast: planned.failFast,
      timeoutMs: planned.timeoutMs,
      gates: [
        ...(own?.gates.values() ?? []),
        ...(parallelism !== null && !isGroup ? [{ name: "leaves", limit: most } as const] : []),
        ...(hasChildren || (parallelism !== null && isGroup)
          ? [{ name: "children", limit: isGroup ? most : UNLIMITED } as const]
          : []),
      ],
      ...(isGroup ? { group: true as const } : {}),
    };
  }

  #taskStep(step: PlannedTask, { executor: ofOwner, gates }: Owner): TaskStep {
    const task = this.#app.tasks.get(step.task.id) ?? step.task;
    const executor = step.options.executor ?? ofOwner;
    const gate = withCpus(gateOf(executor, task), this.#machine.cpus);
    gates.set(gate.name, gate);
    return { ...taskStep(step, task), gate: gate.name as RunGateName, pod: podOf(executor) };
  }

  #runStep(step: PlannedRun, owner: Owner): RunStep {
    const { name, calls, options } = step;
    const shared = {
      kind: "run",
      name,
      input: step.input,
      each: step.each && eachOf(step.each),
      needs: step.needs,
      when: step.when,
      priority: options.priority ?? null,
      mayFail: options.mayFail ?? false,
    } as const;
    if (calls.group) {
      const group = ofGroup(name, calls.group, options);
      const graph = this.#number(owner, group.plan, () => this.#graph(group, owner, undefined));
      const asks = pairs(asksFor({ pools: options.pools }, ""));
      const held = lockField(step.locks ?? []);
      return { ...shared, workflow: name, group: true, graph, asks, ...held, timeoutMs: group.timeoutMs };
    }
    return { ...shared, ...this.#call(calls.workflow(), step, owner), group: false };
  }

  #call(given: AnyWorkflow, { options, locks = [] }: PlannedRun, owner: Owner) {
    const workflow = this.#app.workflows.get(given.id) ?? given;
    const handler = storedHandler(workflow.onFailure, { kind: "workflow", name: workflow.id });
    const detached = detachedOf(options);
    const held = detached ? capsOfRun(workflow, detached.tags) : [];
    const pools = [workflow, options].flatMap(({ pools }) => asksFor({ pools }, ""));
    return {
      workflow: workflow.id,
      ...(detached ? { priority: options.priority ?? workflow.priority ?? 0 } : {}),
      graph: detached ? this.#detached(workflow) : this.#nested(workflow, owner),
      asks: pairs([...held, ...pools]),
      ...lockField([...locksOfTask(workflow), ...locks]),
      timeoutMs: millis(options.timeout ?? workflow.timeout),
      ...(handler ? { onFailure: handler } : {}),
      ...(detached ? { detached: { ...detached, tags: { ...workflow.tags, ...detached.tags } } } : {}),
    };
  }

  #detached(workflow: AnyWorkflow): number {
    return this.#number("detached", workflow.plan, () => this.#whole(workflow));
  }

  #nested(workflow: AnyWorkflow, owner: Owner): number {
    const { executor, plan } = workflow;
    if (executor === undefined)
      return this.#number(owner, plan, () => this.#graph(ofWorkflow(workflow), owner, undefined));
    const root = owner.root ?? owner;
    root.gates.set("nested", { name: "nested", limit: UNLIMITED });
    return this.#number(root, plan, () => {
      const own: Owner = { executor, gates: new Map(), root };
      return this.#graph(ofWorkflow(workflow), own, own);
    });
  }

  /** The number comes before the graph, because a workflow may call itself. */
  #number(owner: Owner | "detached", plan: StepPlan, make: () => Graph): number {
    const numbers = this.#numbers.get(owner) ?? new Map<StepPlan, number>();
    this.#numbers.set(owner, numbers);
    const known = numbers.get(plan);
    if (known !== undefined) return known;
    const number = this.#graphs.push(undefined);
    numbers.set(plan, number);
    this.#graphs[number - 1] = make();
    return number;
  }
}

const ofWorkflow = (workflow: AnyWorkflow): Planned => ({
  name: workflow.id,
  plan: workflow.plan,
  failFast: workflow.failFast ?? false,
  timeoutMs: millis(workflow.timeout),
  parallelism: workflow.parallelism ?? null,
  isGroup: false,
});

const ofGroup = (name: string, plan: StepPlan, options: PlannedRun["options"]): Planned => ({
  name,
  plan,
  failFast: options.failFast ?? false,
  timeoutMs: millis(options.timeout),
  parallelism: options.parallelism ?? null,
  isGroup: true,
});

function detachedOf({ detached }: PlannedRun["options"]): RunStep["detached"] {
  if (detached === undefined || detached === false) return undefined;
  const { wait = true, tags = {} } = detached === true ? {} : detached;
  return { wait, tags };
}

/** A step may ask for a pool that its workflow holds too. Each gate is asked once, for all of it. */
function pairs(asks: readonly Ask[]): [gate: string, slots: number][] {
  const sums = new Map<string, number>();
  for (const { gate, slots } of asks) sums.set(gate, (sums.get(gate) ?? 0) + slots);
  return [...sums];
}
