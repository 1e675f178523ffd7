/**
 * Decides what follows in a run from the states of its steps: which steps are over, which are skipped, which
 * can be put in line, and whether the run has ended. Pure and repeatable: once its answer is written down,
 * asking again gives nothing new.
 *
 * A step is put in line as soon as its own needs are met; it does not wait for a level. Outputs are needed
 * only for a ready step, a condition or the end, so they are requested by name first.
 */
import { holds, stepsIn } from "../workflow/condition.ts";
import type { Graph, GraphStep, Need, UnitStep, WaitStep } from "../workflow/graph.ts";
import type { Json, Values } from "../workflow/template.ts";
import { fill, render, stepsNamedIn } from "../workflow/template.ts";
import { handlesFailure } from "./fail-fast.ts";
import { resultsOf, stepsOfEach } from "./fan-out.ts";

export type ProgressState = "pending" | "open" | "succeeded" | "failed" | "skipped" | "cancelled";

export interface RunNow {
  readonly input: Json;
  /** Steps that are not listed are pending. */
  readonly steps: ReadonlyMap<string, ProgressState>;
  /**
   * The outputs of steps, as far as they have been read; null for a step without one. For a step over a list:
   * how its items ended.
   */
  readonly outputs: ReadonlyMap<string, Json>;
  /** Outputs that cannot be read in this look. The steps that need them stay pending for now. */
  readonly later?: ReadonlySet<string>;
  readonly paused?: boolean;
}

/** Outputs that one step needs together. `by` is null for the result of the run. */
export interface Want {
  readonly by: string | null;
  readonly outputs: readonly string[];
}

export type Progress =
  /** These outputs must be read first. */
  | { readonly wants: readonly Want[] }
  | {
      readonly skip: readonly { readonly step: string; readonly because: Because }[];
      /** The input is undefined for a task that takes none. */
      readonly open: readonly { readonly step: UnitStep; readonly input: Json | undefined }[];
      /** Steps over a list that can begin. */
      readonly expand: readonly UnitStep[];
      readonly wait: readonly BeginningWait[];
      readonly finish: Finish | null;
    };

/** A step that begins to wait. */
export interface BeginningWait {
  readonly step: WaitStep;
  /** What it waits for: a time, the fields of a payload, or a question. */
  readonly input: Json | undefined;
  /** Its output after its timeout. Undefined if the timeout fails it. */
  readonly otherwise: Json | undefined;
}

export type Because =
  | { readonly kind: "need"; readonly step: string; readonly was: ProgressState; readonly wanted: Need["on"] }
  | { readonly kind: "condition" }
  | { readonly kind: "failFast"; readonly step: string };

export type Finish =
  | { readonly state: "succeeded"; readonly result: Json }
  | { readonly state: "failed"; readonly steps: readonly string[] };

export function progress(graph: Graph, now: RunNow): Progress {
  return new Walk(graph, now).walk();
}

class Walk {
  readonly #graph: Graph;
  readonly #now: RunNow;
  readonly #states: Map<string, ProgressState>;
  readonly #wants: Want[] = [];
  readonly #skip: { step: string; because: Because }[] = [];
  readonly #open: { step: UnitStep; input: Json | undefined }[] = [];
  readonly #expand: UnitStep[] = [];
  readonly #wait: BeginningWait[] = [];

  constructor(graph: Graph, now: RunNow) {
    this.#graph = graph;
    this.#now = now;
    this.#states = new Map(graph.steps.map(({ name }) => [name, now.steps.get(name) ?? "pending"]));
  }

  walk(): Progress {
    // A skipped step can decide any other step, wherever it stands, so the rounds repeat until nothing
    // changes.
    while (this.#round()) {}
    const finish = this.#isOver() ? this.#finish() : null;
    if (this.#wants.length > 0) return { wants: this.#wants };
    return { skip: this.#skip, open: this.#open, expand: this.#expand, wait: this.#wait, finish };
  }

  #round(): boolean {
    let moved = false;
    for (const step of this.#graph.steps) {
      if (this.#states.get(step.name) !== "pending") continue;
      const state = this.#decide(step);
      if (state === "pending") continue;
      this.#states.set(step.name, state);
      moved = true;
    }
    return moved;
  }

  #decide(step: GraphStep): ProgressState {
    const hindrance = this.#hindrance(step);
    if (hindrance) return this.#skipped(step, hindrance);
    if (!step.needs.every((need) => isFinal(this.#stateOf(need.step)))) return "pending";
    const named = [...(step.when ? stepsIn(step.when) : []), ...stepsOfEach(step)];
    if (!this.#has(step.name, named)) return "pending";
    const values = valuesOf(this.#graph, this.#now);
    if (step.when && !holds(step.when, values)) return this.#skipped(step, { kind: "condition" });
    if (step.kind === "wait") return this.#await(step, values);
    if (step.each) this.#expand.push(step);
    else this.#open.push({ step, input: fill(step.input, values) });
    return "open";
  }

  /** While the run is paused, nothing begins to wait. */
  #await(step: WaitStep, values: Values): ProgressState {
    if (this.#now.paused) return "pending";
    const { otherwise } = step;
    const instead = otherwise === undefined ? undefined : (fill(otherwise, values) ?? null);
    this.#wait.push({ step, input: fill(step.input, values), otherwise: instead });
    return "open";
  }

  /** A need that can no longer be met, whatever the other steps come to. */
  #hindrance(step: GraphStep): Because | undefined {
    for (const { step: name, on } of step.needs) {
      const was = this.#stateOf(name);
      if (isFinal(was) && !meets(was, on)) return { kind: "need", step: name, was, wanted: on };
    }
    if (!this.#graph.failFast || handlesFailure(step)) return undefined;
    const [failed] = this.#failures();
    return failed === undefined ? undefined : { kind: "failFast", step: failed };
  }

  #skipped(step: GraphStep, because: Because): ProgressState {
    this.#skip.push({ step: step.name, because });
    return "skipped";
  }

  #isOver(): boolean {
    return [...this.#states.values()].every(isFinal);
  }

  #finish(): Finish | null {
    const steps = this.#failures();
    if (steps.length > 0) return { state: "failed", steps };
    if (!this.#has(null, stepsNamedIn(this.#graph.output))) return null;
    return { state: "succeeded", result: render(this.#graph.output, valuesOf(this.#graph, this.#now)) };
  }

  #failures(): string[] {
    const isFailure = ({ name, mayFail }: GraphStep): boolean => {
      const state = this.#stateOf(name);
      return !mayFail && (state === "failed" || state === "cancelled");
    };
    return this.#graph.steps.filter(isFailure).map(({ name }) => name);
  }

  /**
   * Only steps that succeeded, and failed steps over a list, have an output to read. All others count as
   * null.
   */
  #has(by: string | null, names: readonly string[]): boolean {
    const gave = (name: string): boolean => {
      const state = this.#stateOf(name);
      return state === "succeeded" || (state === "failed" && isEach(this.#graph, name));
    };
    const { outputs, later } = this.#now;
    const given = [...new Set(names)].filter(gave);
    const missing = given.filter((name) => !outputs.has(name));
    if (missing.length === 0) return true;
    const isWanted = this.#wants.some((want) => want.by === by);
    if (!isWanted && !missing.some((name) => later?.has(name))) this.#wants.push({ by, outputs: given });
    return false;
  }

  /** A step that is not in the graph counts as skipped. */
  #stateOf(name: string): ProgressState {
    return this.#states.get(name) ?? "skipped";
  }
}

const isFinal = (state: ProgressState): boolean => state !== "pending" && state !== "open";

function meets(state: ProgressState, on: Need["on"]): boolean {
  if (on === "finished") return true;
  return on === "succeeded" ? state === "succeeded" : state === "failed" || state === "cancelled";
}

const isEach = (graph: Graph, name: string): boolean =>
  graph.steps.some((step) => step.name === name && Boolean(step.each));

/** The values of references, as far as they have been read. */
export function valuesOf(graph: Graph, { input, outputs }: RunNow): Values {
  const read = (step: string): Json => outputs.get(step) ?? null;
  return {
    input,
    output: (step) => (isEach(graph, step) ? resultsOf(read(step)) : read(step)),
    outcomes: read,
  };
}
