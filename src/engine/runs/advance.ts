/** The decision of one look at runs: what core says follows, as rows to write. Nothing is awaited, nothing is kept. */
import { runGateKey } from "../../core/gate/key.ts";
import type { ItemOutcome } from "../../core/run/fan-out.ts";
import { stepsOfEach } from "../../core/run/fan-out.ts";
import type { Because, RunNow, StepState } from "../../core/run/progress.ts";
import { progress, valuesOf } from "../../core/run/progress.ts";
import type { Graph, GraphStep } from "../../core/workflow/graph.ts";
import type { Json } from "../../core/workflow/template.ts";
import type {
  Advance,
  Reading,
  Results,
  RunMove,
  RunSeen,
  StepKey,
  StepMove,
  StepSeen,
} from "../../store/runs.ts";
import { keyOfStep, STILL } from "../../store/runs.ts";
import type { Kept } from "./fan-out.ts";
import { afterFailure, begin, conclude, create, keptItems } from "./fan-out.ts";
import type { UnitSettings } from "./unit.ts";
import { unitOf } from "./unit.ts";

export type AdvanceSettings = UnitSettings;

export function advanceRuns(runs: readonly RunSeen[], results: Results, settings: AdvanceSettings): Advance {
  const wanted = new Wanted(results);
  const moves = runs.map((run) => readably(run, () => new Look(run, wanted, settings).move()));
  return wanted.reading ?? { moves: moves.flatMap((move) => move ?? []) };
}

/** One damaged run must not stop all others: it has failed, and says why. */
function readably(run: RunSeen, move: () => RunMove | undefined): RunMove | undefined {
  try {
    return move();
  } catch (error) {
    const message = `The stored graph of this run cannot be read: ${error instanceof Error ? error.message : error}`;
    const body = JSON.stringify({ name: "Error", code: "MALFORMED_RUN", message });
    return { ...nothing(run), finish: { state: "failed", body } };
  }
}

const nothing = ({ id, epoch }: RunSeen): RunMove => ({ ...STILL, run: id, epoch });

/** What has been read, and what has to be. */
class Wanted {
  readonly #results: Results;
  readonly #units = new Set<string>();
  readonly #bodies = new Map<string, StepKey>();
  readonly #items = new Map<string, StepKey>();

  constructor(results: Results) {
    this.#results = results;
  }

  get reading(): { readonly read: Reading } | undefined {
    if (this.#units.size + this.#bodies.size + this.#items.size === 0) return undefined;
    return {
      read: {
        units: [...this.#units].sort(),
        bodies: [...this.#bodies.values()],
        items: [...this.#items.values()],
      },
    };
  }

  unit(id: string): string | null | undefined {
    const known = this.#results.units.get(id);
    if (known === undefined) this.#units.add(id);
    return known;
  }

  body(key: StepKey): string | null | undefined {
    const known = this.#results.bodies.get(keyOfStep(key));
    if (known === undefined) this.#bodies.set(keyOfStep(key), key);
    return known;
  }

  items(key: StepKey) {
    const known = this.#results.items.get(keyOfStep(key));
    if (known === undefined) this.#items.set(keyOfStep(key), key);
    return known;
  }
}

/** One run. Where something has to be read first, there is no move yet. */
class Look {
  readonly #run: RunSeen;
  readonly #graph: Graph;
  readonly #wanted: Wanted;
  readonly #settings: AdvanceSettings;
  readonly #states: Map<string, StepState>;
  readonly #outputs = new Map<string, Json>();
  readonly #steps: StepMove[] = [];
  #gates: RunMove["gates"] = [];
  #enqueue: RunMove["enqueue"] = [];
  #timers: RunMove["timers"] = [];
  #endItems: RunMove["endItems"] = [];
  #again = false;
  #waits = false;

  constructor(run: RunSeen, wanted: Wanted, settings: AdvanceSettings) {
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
      finish: answer.finish && {
        state: answer.finish.state,
        body: JSON.stringify(
          answer.finish.state === "succeeded" ? answer.finish.result : failure(answer.finish.steps),
        ),
      },
    };
  }

  /** A step that has ended is written down as such; one over a list goes on, or comes to its end. */
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

  /** What was not created yet never will be. */
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
    // A step that failed at once decides others.
    this.#again ||= move.again || move.steps.some(({ state }) => state === "failed");
  }

  /** How the items ended that this run takes over; null where it takes over none. */
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

  /** What follows, once everything that it depends on has been read. */
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

  /** What a step gave: the result of its unit, or how its items ended. */
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

const parsed = new Map<string, Graph>();

/** The same for all runs of a workflow: read once. */
export function graphFrom(text: string): Graph {
  const known = parsed.get(text);
  if (known) return known;
  const graph = JSON.parse(text) as Graph;
  if (parsed.size > 200) parsed.clear();
  parsed.set(text, graph);
  return graph;
}

/** Lists are looked at again with every batch of their items: large texts are parsed once. */
const LARGE = 10_000;
let lastParsed: { readonly text: string; readonly value: Json } | undefined;

function parse(text: string | null): Json {
  if (text === null || text === "") return null;
  if (text.length < LARGE) return JSON.parse(text) as Json;
  if (lastParsed?.text !== text) lastParsed = { text, value: JSON.parse(text) as Json };
  return lastParsed.value;
}

function stateOf({ state, ended }: StepSeen): StepState {
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
