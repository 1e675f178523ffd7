/**
 * One workflow, or one group of it, while its `steps` function runs. Each call is checked for mistakes and becomes a
 * step of the plan. A group is built by a build of its own. What its steps refer to outside of it becomes the group's
 * input, so a group is a step like any other for the rest of the workflow.
 */
import { SluiceError } from "../error.ts";
import type { AnyTask } from "../task/definition.ts";
import { stepsIn } from "./condition.ts";
import type { EachOptions, PlannedEach } from "./each.ts";
import { itemReferences, templatesIn } from "./each.ts";
import type { Need } from "./graph.ts";
import type { EachHandle, StepHandle } from "./handle.ts";
import { eachHandleOf, endingIn, handleOf, isHandle } from "./handle.ts";
import { readItems } from "./items.ts";
import { locksIn, withLocks } from "./locks.ts";
import type { GroupOptions, RunStepOptions } from "./nested-options.ts";
import { Outside } from "./outside.ts";
import type {
  AnyWorkflow,
  PlannedCall,
  PlannedRun,
  PlannedStep,
  PlannedTask,
  PlannedWaitStep,
  StepPlan,
} from "./plan.ts";
import type { ItemScope, Reference, Referred } from "./reference.ts";
import { referTo } from "./reference.ts";
import type { StepOptions } from "./step-options.ts";
import type { Steps } from "./steps.ts";
import type { Source, Template } from "./template.ts";
import { reference, stepsNamedIn } from "./template.ts";
import type { WaitCall } from "./waiting.ts";
import { waitingSteps } from "./waiting.ts";
import { readCondition } from "./when.ts";
import type { Builder } from "./wired.ts";
import { wire } from "./wired.ts";

/** A step before it is known which steps it needs. */
type Unplanned =
  | Pick<PlannedTask, "name" | "input" | "each" | "kind" | "task">
  | Pick<PlannedRun, "name" | "input" | "each" | "kind" | "calls">
  | Pick<PlannedWaitStep, "name" | "input" | "each" | "kind" | "wait" | "otherwise">;

export class Build implements Builder {
  /** As sentences name it. */
  readonly #title: string;
  readonly #steps: PlannedStep[] = [];
  /** For a group: what its steps take from the outside. */
  readonly #outside: Outside | undefined;
  #ended = false;

  private constructor(title: string, outside?: Outside) {
    this.#title = title;
    this.#outside = outside;
  }

  static ofWorkflow(id: string): Build {
    return new Build(`workflow "${id}"`);
  }

  /** Runs `steps` and then closes the build. */
  plan(steps: (s: Steps, input: Reference<unknown>) => unknown): StepPlan {
    const verbs = {
      step: this.#step.bind(this),
      each: this.#each.bind(this),
      ...waitingSteps(this.#wait.bind(this)),
      run: this.#run.bind(this),
      group: this.#group.bind(this),
    } as unknown as Steps;
    const returned = this.#closing(() =>
      steps(verbs, referTo({ build: this, source: { input: true, path: [] } })),
    );
    if (typeof (returned as PromiseLike<unknown> | undefined)?.then === "function")
      throw this.#refused("steps must not be async. It only says what depends on what; runs do the waiting");
    const output = isHandle(returned) ? returned.output : (returned ?? null);
    return Object.freeze({ steps: Object.freeze(this.#steps), output: this.#wire(output, "its result") });
  }

  take({ build, source }: Pick<Referred, "build" | "source">): Source | undefined {
    return build === this ? source : this.#outside?.take(build, source);
  }

  groupWith(build: object): string | undefined {
    return build instanceof Build ? build.groupIn(this) : undefined;
  }

  groupIn(build: object): string | undefined {
    return this.#outside?.groupIn(build);
  }

  #closing<T>(body: () => T): T {
    try {
      return body();
    } finally {
      this.#ended = true;
    }
  }

  #step(name: string, task: AnyTask, input: unknown, options: StepOptions = {}): StepHandle<unknown> {
    this.#mustBeOpen(name);
    if (isWorkflow(task)) throw this.#refused(`step "${name}" calls a workflow. Write s.run("${name}", …)`);
    this.#mustCall(name, task);
    this.#add({ name, task, input: this.#wire(input, `step "${name}": input`), each: null }, options);
    return handleOf(name, this);
  }

  #run(name: string, called: unknown, input: unknown, options: RunStepOptions = {}): StepHandle<unknown> {
    this.#mustBeOpen(name);
    const calls = this.#workflow(name, called);
    this.#add(
      { name, kind: "run", calls, input: this.#wire(input, `step "${name}": input`), each: null },
      options,
    );
    return handleOf(name, this);
  }

  #each(name: string, items: unknown, called: unknown, options: EachOptions = {}): EachHandle<unknown> {
    this.#mustBeOpen(name);
    const { concurrency, onFailure, input, ...rest } = options;
    const each: PlannedEach = Object.freeze({
      items: readItems(items, (value, part = "") => this.#wire(value, `step "${name}": items${part}`)),
      // A number that JSON cannot express is reported later, with all other problems.
      concurrency:
        concurrency === undefined || typeof concurrency === "number"
          ? concurrency
          : this.#wire(concurrency, `step "${name}": concurrency`),
      onFailure,
    });
    const step = { name, input: this.#itemInput(name, input), each };
    if (isWorkflow(called) || typeof called === "function")
      this.#add({ ...step, kind: "run", calls: this.#workflow(name, called) }, rest as RunStepOptions);
    else this.#add({ ...step, task: this.#mustCall(name, called) }, rest);
    return eachHandleOf(name, this);
  }

  #wait(name: string, { wait, input, otherwise, rest }: WaitCall): StepHandle<unknown> {
    this.#mustBeOpen(name);
    const made = {
      name,
      kind: "wait",
      each: null,
      wait: Object.freeze(wait),
      input: this.#wire(input, `step "${name}"`),
      ...(otherwise === undefined ? {} : { otherwise: this.#wire(otherwise, `step "${name}": otherwise`) }),
    } as const;
    this.#add(made, rest);
    return handleOf(name, this);
  }

  #group(name: string, ...rest: readonly unknown[]): StepHandle<unknown> {
    this.#mustBeOpen(name);
    const [options, steps] = typeof rest[0] === "function" ? [{}, rest[0]] : rest;
    if (typeof steps !== "function")
      throw this.#refused(`group "${name}" needs a function that makes its steps, like (g) => { … }`);
    const outside = new Outside(name, this);
    const inner = new Build(`${this.#title}, group "${name}"`, outside);
    const group = inner.plan(steps as never);
    this.#add(
      { name, kind: "run", calls: { group }, input: outside.input, each: null },
      (options ?? {}) as GroupOptions,
      outside.needs,
    );
    return handleOf(name, this);
  }

  #itemInput(name: string, input: EachOptions["input"]): Template {
    if (input === undefined) return reference({ item: "value", path: [] });
    if (typeof input !== "function")
      throw this.#refused(`step "${name}": input must be a function of the item, like (user) => user.id`);
    const item = Object.freeze({ step: name });
    return this.#wire(input(...itemReferences(this, item)), `step "${name}": input`, item);
  }

  #mustBeOpen(name: string): void {
    if (this.#ended)
      throw this.#refused(`step "${name}" was created after steps had returned. Create all steps inside it`);
  }

  #mustCall(name: string, task: unknown): AnyTask {
    if (typeof (task as AnyTask | undefined)?.id === "string") return task as AnyTask;
    throw this.#refused(`step "${name}" must call a task, but was given ${task}. Make one with task({ … })`);
  }

  /** A function is called only when the workflow is needed. By then, a workflow that calls itself exists. */
  #workflow(name: string, called: unknown): PlannedCall {
    if (isWorkflow(called)) return { workflow: () => called };
    if (typeof called !== "function")
      throw this.#refused(
        `step "${name}" must call a workflow, but was given ${(called as AnyTask | undefined)?.id === undefined ? called : "a task"}. Make one with workflow({ … })${isTaskLike(called) ? `, or write s.step("${name}", …)` : ""}`,
      );
    return {
      workflow: () => {
        const found: unknown = called();
        if (isWorkflow(found)) return found;
        throw this.#refused(`step "${name}" must call a workflow, but its function returned ${found}`);
      },
    };
  }

  #add(
    step: Unplanned,
    options: StepOptions | RunStepOptions | GroupOptions,
    outer: readonly Need[] = [],
  ): void {
    const { name } = step;
    const { after, when, ...rest } = options;
    const overrides = withLocks(rest, (value, field) => this.#wire(value, `step "${name}": ${field}`));
    const locks = locksIn(overrides);
    const whose = `step "${name}": when`;
    const wire = (value: unknown): Template => this.#wire(value, whose);
    const condition =
      when === undefined ? null : readCondition(when, { wire, whose: `${this.#title}: ${whose}` });
    const needs = needsOf(
      [...this.#explicit(name, after), ...outer],
      [...templatesIn({ ...step, locks }).flatMap(stepsNamedIn), ...(condition ? stepsIn(condition) : [])],
    );
    const planned = {
      ...step,
      needs,
      when: condition,
      options: overrides,
      ...(locks.length > 0 ? { locks } : {}),
    };
    this.#steps.push(Object.freeze(planned) as PlannedStep);
  }

  #wire(value: unknown, name: string, item?: ItemScope): Template {
    return wire(value, { build: this, name: `${this.#title}: ${name}`, ...(item && { item }) });
  }

  #explicit(name: string, after: unknown = []): Need[] {
    if (!Array.isArray(after)) throw this.#refused(`step "${name}": after must be a list, like [users]`);
    return after.flatMap((each: unknown) => {
      const ending = endingIn(each);
      if (!ending)
        throw this.#refused(`step "${name}": after must be a list of steps, like [users] or [users.failed]`);
      return this.comesAfter(name, ending);
    });
  }

  /** A group as a whole comes after the steps outside of it that its steps come after. */
  comesAfter(name: string, { build, step, on }: Need & { readonly build: object }): Need[] {
    if (build === this) return [{ step, on }];
    if (this.#outside?.comesAfter(name, { build, step, on })) return [];
    const group = this.groupWith(build);
    throw this.#refused(
      group === undefined
        ? `step "${name}" comes after step "${step}" of another workflow. Name steps of this one`
        : `step "${name}" comes after step "${step}", which is inside group "${group}". Name the group`,
    );
  }

  /** True for the build of the step, and for all builds inside which this one is. */
  knows(build: object): boolean {
    return build === this || this.#outside?.knows(build) === true;
  }

  #refused(what: string): SluiceError {
    return new SluiceError("BAD_WORKFLOW", `${this.#title}: ${what}.`);
  }
}

const isWorkflow = (called: unknown): called is AnyWorkflow =>
  typeof called === "object" && called !== null && "plan" in called;

const isTaskLike = (called: unknown): boolean =>
  typeof called === "object" && called !== null && "run" in called;

/** A referenced step must have succeeded, unless the step says otherwise. */
function needsOf(explicit: readonly Need[], referred: readonly string[]): Need[] {
  const said = new Set(explicit.map(({ step }) => step));
  const implied = referred
    .filter((step) => !said.has(step))
    .map((step) => ({ step, on: "succeeded" as const }));
  const once = new Map([...explicit, ...implied].map((need) => [`${need.on} ${need.step}`, need]));
  return [...once.values()];
}
