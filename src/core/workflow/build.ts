/**
 * One workflow while its `steps` function runs. Each call is checked for mistakes and becomes a step of the
 * plan.
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
import type { ItemScope, Reference } from "./reference.ts";
import { referTo } from "./reference.ts";
import type { StepOptions } from "./step-options.ts";
import type { PlannedStep, PlannedTaskStep, PlannedWaitStep, StepPlan, Steps } from "./steps.ts";
import type { Template } from "./template.ts";
import { reference, stepsNamedIn } from "./template.ts";
import type { WaitCall } from "./waiting.ts";
import { waitingSteps } from "./waiting.ts";
import { readCondition } from "./when.ts";
import { wire } from "./wired.ts";

/** A step without what `after`, `when` and its other options say. */
type Unfinished<Step> = Omit<Step, "needs" | "when" | "options">;

export class Build {
  readonly #workflow: string;
  readonly #steps: PlannedStep[] = [];
  #ended = false;

  constructor(workflow: string) {
    this.#workflow = workflow;
  }

  /** Runs `steps` and then closes the build. */
  plan(steps: (s: Steps, input: Reference<unknown>) => unknown): StepPlan {
    const verbs = {
      step: this.#step.bind(this),
      each: this.#each.bind(this),
      ...waitingSteps(this.#wait.bind(this)),
    } as unknown as Steps;
    const returned = this.#closing(() =>
      steps(verbs, referTo({ build: this, source: { input: true, path: [] } })),
    );
    if (typeof (returned as PromiseLike<unknown> | undefined)?.then === "function")
      throw this.#refused("steps must not be async. It only says what depends on what; runs do the waiting");
    const output = isHandle(returned) ? returned.output : (returned ?? null);
    return Object.freeze({ steps: Object.freeze(this.#steps), output: this.#wire(output, "its result") });
  }

  #closing<T>(body: () => T): T {
    try {
      return body();
    } finally {
      this.#ended = true;
    }
  }

  #step(name: string, task: AnyTask, input: unknown, options: StepOptions = {}): StepHandle<unknown> {
    this.#mustCall(name, task);
    this.#add({ name, task, input: this.#wire(input, `step "${name}": input`), each: null }, options);
    return handleOf(name, this);
  }

  #each(name: string, items: unknown, task: AnyTask, options: EachOptions = {}): EachHandle<unknown> {
    this.#mustCall(name, task);
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
    this.#add({ name, task, input: this.#itemInput(name, input), each }, rest);
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

  #mustCall(name: string, task: AnyTask): void {
    this.#mustBeOpen(name);
    if (typeof task?.id !== "string")
      throw this.#refused(
        `step "${name}" must call a task, but was given ${task}. Make one with task({ … })`,
      );
  }

  #add(step: Unfinished<PlannedTaskStep> | Unfinished<PlannedWaitStep>, options: StepOptions): void {
    const { name } = step;
    const { after, when, ...overrides } = options;
    const condition =
      when === undefined ? null : readCondition(when, (value) => this.#wire(value, `step "${name}": when`));
    const needs = needsOf(this.#explicit(name, after), [
      ...templatesIn(step).flatMap(stepsNamedIn),
      ...(condition ? stepsIn(condition) : []),
    ]);
    this.#steps.push(Object.freeze({ ...step, needs, when: condition, options: overrides }) as PlannedStep);
  }

  #wire(value: unknown, name: string, item?: ItemScope): Template {
    return wire(value, { build: this, name: `workflow "${this.#workflow}": ${name}`, ...(item && { item }) });
  }

  #explicit(name: string, after: unknown = []): Need[] {
    if (!Array.isArray(after)) throw this.#refused(`step "${name}": after must be a list, like [users]`);
    return after.map((each: unknown) => {
      const ending = endingIn(each);
      if (ending?.build === this) return { step: ending.step, on: ending.on };
      throw this.#refused(
        ending
          ? `step "${name}" comes after step "${ending.step}" of another workflow. Name steps of this one`
          : `step "${name}": after must be a list of steps, like [users] or [users.failed]`,
      );
    });
  }

  #refused(what: string): SluiceError {
    return new SluiceError("BAD_WORKFLOW", `workflow "${this.#workflow}": ${what}.`);
  }
}

/** A referenced step must have succeeded, unless the step says otherwise. */
function needsOf(explicit: readonly Need[], referred: readonly string[]): Need[] {
  const said = new Set(explicit.map(({ step }) => step));
  const implied = referred
    .filter((step) => !said.has(step))
    .map((step) => ({ step, on: "succeeded" as const }));
  const once = new Map([...explicit, ...implied].map((need) => [`${need.on} ${need.step}`, need]));
  return [...once.values()];
}
