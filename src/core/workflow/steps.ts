/**
 * What `steps` of a workflow is given, and what its calls leave behind: a plan, plain data that is read once and never
 * changes again. A step can only name steps that were made before it, so a plan has no cycles.
 */
import { SluiceError } from "../error.ts";
import type { AnyTask, InputOf, OutputOf, PoolAsks } from "../task/definition.ts";
import type { RetryOptions } from "../task/retry.ts";
import type { Duration } from "../time.ts";
import type { Condition } from "./condition.ts";
import { stepsIn } from "./condition.ts";
import type { ExecutorChoice } from "./executor.ts";
import type { Need } from "./graph.ts";
import type { Ending, StepEndings, StepHandle } from "./handle.ts";
import { endingIn, handleOf, isHandle } from "./handle.ts";
import type { Reference } from "./reference.ts";
import { referTo } from "./reference.ts";
import type { Template } from "./template.ts";
import { stepsNamedIn } from "./template.ts";
import type { StepCondition } from "./when.ts";
import { readCondition } from "./when.ts";
import type { AsJson, Wired } from "./wired.ts";
import { wire } from "./wired.ts";

export interface Steps {
  /** A step that calls a task. It starts as soon as every step it refers to or comes after has ended as it should. */
  step<Task extends AnyTask>(
    name: string,
    task: Task,
    ...rest: StepArguments<InputOf<Task>>
  ): StepHandle<AsJson<OutputOf<Task>>>;
}

/** A task that takes nothing needs to be given nothing. */
export type StepArguments<Input> = undefined extends Input
  ? [input?: Wired<Input> | undefined, options?: StepOptions]
  : [input: Wired<Input>, options?: StepOptions];

/** What a step says differently from its task, and when it may start. */
export interface StepOptions extends StepOverrides {
  readonly after?: readonly (StepEndings | Ending)[];
  /** Skipped where this does not hold. */
  readonly when?: StepCondition;
}

export interface StepOverrides {
  readonly queue?: string;
  readonly priority?: number;
  /** Instead of the task's. */
  readonly pools?: PoolAsks;
  readonly retry?: RetryOptions;
  readonly timeout?: Duration;
  readonly mutexes?: readonly string[];
  /** Its failure is no failure of the run. */
  readonly mayFail?: boolean;
  readonly executor?: ExecutorChoice;
}

export interface Plan {
  readonly steps: readonly PlannedStep[];
  readonly output: Template;
}

export interface PlannedStep {
  readonly name: string;
  readonly task: AnyTask;
  readonly input: Template;
  readonly needs: readonly Need[];
  readonly when: Condition | null;
  /** As they were written: checked with the app. */
  readonly options: StepOverrides;
}

/** One workflow while its `steps` runs. */
export class Build {
  readonly #workflow: string;
  readonly #steps: PlannedStep[] = [];
  #ended = false;

  constructor(workflow: string) {
    this.#workflow = workflow;
  }

  /** Runs `steps` and closes the build behind it. */
  plan(steps: (s: Steps, input: Reference<unknown>) => unknown): Plan {
    const verbs = { step: this.#step.bind(this) } as unknown as Steps;
    const returned = this.#closing(() =>
      steps(verbs, referTo({ build: this, source: { input: true, path: [] } })),
    );
    if (typeof (returned as PromiseLike<unknown> | undefined)?.then === "function")
      throw this.#refused(
        "steps must not be async. It only says what depends on what; the waiting is done by runs",
      );
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
    if (this.#ended)
      throw this.#refused(`step "${name}" was made after steps had returned. Make all steps inside of it`);
    if (typeof task?.id !== "string")
      throw this.#refused(
        `step "${name}" must call a task, but was given ${task}. Make one with task({ … })`,
      );
    const { after, when, ...overrides } = options;
    const called = `step "${name}"`;
    const wired = this.#wire(input, `${called}: input`);
    const condition =
      when === undefined ? null : readCondition(when, (each) => this.#wire(each, `${called}: when`));
    const needs = needsOf(this.#explicit(name, after), [
      ...stepsNamedIn(wired),
      ...(condition ? stepsIn(condition) : []),
    ]);
    this.#steps.push(Object.freeze({ name, task, input: wired, needs, when: condition, options: overrides }));
    return handleOf(name, this);
  }

  #wire(value: unknown, name: string): Template {
    return wire(value, { build: this, name: `workflow "${this.#workflow}": ${name}` });
  }

  #explicit(name: string, after: unknown = []): Need[] {
    if (!Array.isArray(after)) throw this.#refused(`step "${name}": after must be a list, like [users]`);
    return after.map((each: unknown) => {
      const ending = endingIn(each);
      if (ending?.build === this) return { step: ending.step, on: ending.on };
      throw this.#refused(
        ending
          ? `step "${name}" comes after step "${ending.step}" of another workflow. Name steps of this one`
          : `step "${name}": after must hold steps, like [users] or [users.failed]`,
      );
    });
  }

  #refused(what: string): SluiceError {
    return new SluiceError("BAD_WORKFLOW", `workflow "${this.#workflow}": ${what}.`);
  }
}

/** Whatever is referred to must have succeeded, unless it was said otherwise. */
function needsOf(explicit: readonly Need[], referred: readonly string[]): Need[] {
  const said = new Set(explicit.map(({ step }) => step));
  const implied = referred
    .filter((step) => !said.has(step))
    .map((step) => ({ step, on: "succeeded" as const }));
  const once = new Map([...explicit, ...implied].map((need) => [`${need.on} ${need.step}`, need]));
  return [...once.values()];
}
