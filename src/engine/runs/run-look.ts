/** The decision of one look at one run: turns the answer of `progress` into rows to write. */
import { runGateKey } from "../../core/gate/key.ts";
import type { ItemOutcome } from "../../core/run/fan-out.ts";
import { stepsOfEach } from "../../core/run/fan-out.ts";
import type { Because, Finish, ProgressState, RunNow } from "../../core/run/progress.ts";
import { progress, valuesOf } from "../../core/run/progress.ts";
import type { Graph, GraphStep } from "../../core/workflow/graph.ts";
import type { Json } from "../../core/workflow/template.ts";
import type { RunMove, RunSeen, StepMove, StepSeen } from "../../store/runs.ts";
import { STILL } from "../../store/runs.ts";
import { handlerOf } from "../claiming/handler.ts";
import type { Kept } from "./fan-out.ts";
import { afterFailure, begin, conclude, create, keptItems } from "./fan-out.ts";
import { graphFrom, parse } from "./stored-json.ts";
import type { UnitSettings } from "./unit.ts";
import { unitOf } from "./unit.ts";
import type { Wanted } from "./wanted.ts";

/** One run. While something has to be read first, there is no move. */
export class RunLook {
  readonly #run: RunSeen;
  readonly #graph: Graph;
  readonly #wanted: Wanted;
  readonly #settings: UnitSettings;
  readonly #states: Map<string, ProgressState>;
  readonly #outputs = new Map<string, Json>();
  readonly #steps: StepMove[] = [];
  #gates: RunMove["gates"] = [];
  #enqueue: RunMove["enqueue"] = [];
  #timers: RunMove["timers"] = [];
  #endItems: RunMove["endItems"] = [];
  #again = false;
  #waits = false;

  constructor(run: RunSeen, wanted: Wanted, settings: UnitSettings) {
    this.#run = run;
    this.#graph = graphFrom(run.graph);
    this.#wanted = wanted;
    this.#settings = settings;
    this.#states = new Map(run.steps.map((step) => [step.name, stateOf(step)]));
  }

  move(): RunMove | undefined {
    for (const step of this.#run.steps) this.#absorb(step);
    const answer = this.#progress();
    if (!answer || this.#waits) return undefined;
    for (const step of answer.expand) this.#expand(step);
    if (this.#waits) return undefined;
    const opened = answer.open.map(({ step, input }) => ({
      step,
      unit: unitOf(this.#run, step, input, this.#settings),
    }));
    const { id, started } = this.#run;
    return {
      ...nothing(this.#run),
      start: started ? null : { gates: gatesOf(id, this.#graph), timeoutMs: this.#graph.timeoutMs },
      gates: this.#gates,
      steps: [
        ...this.#steps,
        ...answer.skip.map(({ step, because }) => skipped(step, because)),
        ...opened.map(
          ({ step, unit }): StepMove => ({ name: step.name, state: "open", unit: unit.id, body: null }),
        ),
      ],
      enqueue: [...this.#enqueue, ...opened.map(({ unit }) => unit)],
      timers: this.#timers,
      endItems: this.#endItems,
      again: this.#again,
      finish: answer.finish && this.#finish(answer.finish),
    };
  }

  #finish(finish: Finish): RunMove["finish"] {
    if (finish.state === "failed") return failed(this.#run, failure(finish.steps), this.#settings);
    return { state: "succeeded", body: JSON.stringify(finish.result) };
  }

  /** Records a step that has ended. A step over a list continues or ends. */
  #absorb(seen: StepSeen): void {
    if (seen.state !== "open") return;
    const { name, unit, body, fan } = seen;
    if (seen.ended !== null)
      this.#steps.push({ name, unit, body, state: stateOf(seen) as StepMove["state"] });
    const step = this.#graph.steps.find((each) => each.name === name);
    if (!fan || !step) return;
    const stopped = afterFailure(step, this.#run);
    if (stopped.length > 0) this.#stop(step, fan, stopped);
    else if (fan.created < fan.total) this.#create(step, fan);
    else if (!fan.left) this.#conclude(step, fan);
  }

  /** Items that were not created yet never will be. */
  #stop(step: GraphStep, fan: NonNullable<StepSeen["fan"]>, ended: RunMove["endItems"]): void {
    this.#endItems = [...this.#endItems, ...ended];
    const { lane, total } = fan;
    this.#steps.push({
      name: step.name,
      state: "open",
      unit: null,
      body: null,
      fan: { lane, total, created: total },
    });
    this.#again = true;
  }

  #create(step: GraphStep, fan: NonNullable<StepSeen["fan"]>): void {
    const values = this.#valuesFor(step);
    const kept = this.#kept(step);
    if (!values || kept === undefined) return;
    this.#take(create(this.#run, step, fan, values, kept, this.#settings));
  }

  #conclude(step: GraphStep, fan: NonNullable<StepSeen["fan"]>): void {
    const items = this.#wanted.items({ run: this.#run.id, step: step.name });
    const kept = this.#kept(step);
    if (!items || kept === undefined) {
      this.#waits = true;
      return;
    }
    const end = conclude(step, fan, items, kept);
    this.#steps.push(end);
    this.#states.set(step.name, end.state);
    this.#outputs.set(step.name, parse(end.body));
  }

  #expand(step: GraphStep): void {
    const kept = this.#kept(step);
    if (kept === undefined) return;
    this.#take(begin(this.#run, step, valuesOf(this.#graph, this.#now()), kept, this.#settings));
  }

  #take(move: ReturnType<typeof begin>): void {
    this.#steps.push(...move.steps);
    this.#gates = [...this.#gates, ...move.gates];
    this.#enqueue = [...this.#enqueue, ...move.enqueue];
    this.#timers = [...this.#timers, ...move.timers];
    // A step that failed at once affects other steps.
    this.#again ||= move.again || move.steps.some(({ state }) => state === "failed");
  }

  /** The outcomes of items that this run takes over. Null if it takes over none. */
  #kept(step: GraphStep): Kept | undefined {
    if (this.#run.rerunOf === null) return null;
    const key = { run: this.#run.rerunOf, step: step.name };
    const text = this.#wanted.body(key);
    // The run may have ended before its step did.
    const items = text === null ? this.#wanted.items(key) : [];
    if (text === undefined || items === undefined) {
      this.#waits = true;
      return undefined;
    }
    if (text === null) return keptItems(items);
    const outcomes = parse(text);
    return Array.isArray(outcomes) ? (outcomes as unknown as readonly ItemOutcome[]) : null;
  }

  /** The answer of `progress`. Undefined while outputs that it needs have to be read first. */
  #progress() {
    for (;;) {
      const answer = progress(this.#graph, this.#now());
      if (!("wants" in answer)) return answer;
      if (!answer.wants.map((step) => this.#read(step)).every(Boolean)) return undefined;
    }
  }

  #valuesFor(step: GraphStep) {
    const succeeded = stepsOfEach(step).filter((name) => this.#states.get(name) === "succeeded");
    if (!succeeded.map((name) => this.#read(name)).every(Boolean)) {
      this.#waits = true;
      return undefined;
    }
    return valuesOf(this.#graph, this.#now());
  }

  /** Reads the output of a step: the result of its unit, or the outcomes of its items. */
  #read(name: string): boolean {
    if (this.#outputs.has(name)) return true;
    const seen = this.#run.steps.find((step) => step.name === name);
    const text =
      seen?.fan || !seen?.unit
        ? this.#wanted.body({ run: this.#run.id, step: name })
        : this.#wanted.unit(seen.unit);
    if (text === undefined) return false;
    this.#outputs.set(name, parse(text));
    return true;
  }

  #now(): RunNow {
    return { input: parse(this.#run.input), steps: this.#states, outputs: this.#outputs };
  }
}

/** The end of a run that fails, with the task that handles it. A run has one attempt. */
export function failed(run: RunSeen, error: Json, { newId }: Pick<UnitSettings, "newId">): RunMove["finish"] {
  const body = JSON.stringify(error);
  return { state: "failed", body, handler: handlerOf({ ...run, attempt: 1 }, { to: "failed", body }, newId) };
}

/** A move that changes nothing. */
export const nothing = ({ id, epoch }: RunSeen): RunMove => ({ ...STILL, run: id, epoch });

function stateOf({ state, ended }: StepSeen): ProgressState {
  if (state !== "open" || ended === null) return state;
  return ended === "succeeded" || ended === "cancelled" ? ended : "failed";
}

const skipped = (name: string, because: Because): StepMove => ({
  name,
  state: "skipped",
  unit: null,
  body: JSON.stringify(because),
});

const gatesOf = (run: string, graph: Graph) =>
  graph.gates.map(({ name, limit }) => ({ key: runGateKey(run, name), limit }));

const failure = (steps: readonly string[]): Json => ({
  name: "StepsFailed",
  code: "STEPS_FAILED",
  message: `${steps.length === 1 ? "Step" : "Steps"} ${steps.join(", ")} did not succeed.`,
  steps,
});
