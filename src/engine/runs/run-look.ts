/** The decision of one look at one run: turns the answer of `progress` into rows to write. */
import type { SluiceError } from "../../core/error.ts";
import { runGateKey } from "../../core/gate/key.ts";
import type { ItemOutcome } from "../../core/run/fan-out.ts";
import { stepsOfEach } from "../../core/run/fan-out.ts";
import type { BeginningWait, Finish, ProgressState, RunNow, Want } from "../../core/run/progress.ts";
import { progress, valuesOf } from "../../core/run/progress.ts";
import { keptSteps } from "../../core/run/take-over.ts";
import { storedOptions } from "../../core/unit-options.ts";
import type { Graph, GraphStep, UnitStep } from "../../core/workflow/graph.ts";
import type { Json } from "../../core/workflow/template.ts";
import type { NewUnit, RunMove, RunSeen, StepKey, StepMove, StepSeen } from "../../store/runs.ts";
import { STILL } from "../../store/runs.ts";
import { handlerOf } from "../claiming/handler.ts";
import { refuseTooDeep } from "./child.ts";
import { failingFast } from "./fail-fast.ts";
import type { Kept } from "./fan-out.ts";
import { afterFailure, begin, conclude, create, keptItems, unstartedBecause } from "./fan-out.ts";
import type { Home } from "./home.ts";
import { homeOf, withLocks } from "./home.ts";
import { endOf, isWaiting, skipped, stateOf } from "./step-state.ts";
import { boundedText, graphFrom, parse } from "./stored-json.ts";
import type { UnitSettings } from "./unit.ts";
import { unitOf } from "./unit.ts";
import { beginToWait } from "./waits.ts";
import type { DataSource, Wanted } from "./wanted.ts";

/** One run. A step whose data is not here stays as it is. */
export class RunLook {
  readonly #run: RunSeen;
  readonly #graph: Graph;
  readonly #home: Home;
  readonly #wanted: Wanted;
  readonly #settings: UnitSettings;
  readonly #states: Map<string, ProgressState>;
  readonly #outputs = new Map<string, Json>();
  /** The outcomes of lists that end in this look. */
  readonly #concluded = new Map<string, string>();
  readonly #steps: StepMove[] = [];
  #gates: RunMove["gates"] = [];
  #enqueue: RunMove["enqueue"] = [];
  #timers: RunMove["timers"] = [];
  #endItems: RunMove["endItems"] = [];
  #again = false;

  constructor(run: RunSeen, wanted: Wanted, settings: UnitSettings) {
    this.#run = run;
    this.#graph = graphFrom(run.graph);
    this.#home = homeOf(run, this.#graph);
    this.#wanted = wanted;
    this.#settings = settings;
    this.#states = new Map(run.steps.map((step) => [step.name, stateOf(step)]));
  }

  move(): RunMove {
    // It has to be admitted again first.
    if (!this.#run.holds && this.#wantsSlots()) return { ...nothing(this.#run), claim: "line" };
    const taken = this.#takeOver();
    if (taken) return taken;
    for (const step of this.#run.steps) this.#absorb(step);
    const answer = this.#progress();
    for (const step of answer.expand) this.#expand(step);
    const opened = answer.open.flatMap(({ step, input }) => this.#open(step, input));
    for (const waiting of answer.wait) this.#wait(waiting);
    const moved: RunMove = {
      ...nothing(this.#run),
      start: this.#startNow(),
      gates: this.#gates,
      steps: [
        ...this.#steps,
        ...answer.skip.map(({ step, because }) => skipped(step, because)),
        ...opened.map(({ step, unit }) => openedStep(step, unit)),
      ],
      enqueue: [...this.#enqueue, ...opened.map(({ unit }) => unit)],
      timers: this.#timers,
      endItems: this.#endItems,
      again: this.#again,
      // The look that follows an answer can read it.
      finish: answer.finish && !this.#isAnswered() ? this.#finish(answer.finish) : null,
    };
    const whole = failingFast(moved, this.#run, this.#graph);
    return this.#rests(whole) ? { ...whole, claim: "rest" } : whole;
  }

  #isAnswered(): boolean {
    return this.#steps.some(({ answered }) => answered);
  }

  #startNow(): RunMove["start"] {
    const { started, resumes } = this.#run;
    if (started) return null;
    return resumes ? { gates: [], timeoutMs: null, again: true } : this.#start();
  }

  /** A run that rests goes on with the answer of a step, or with steps that a pause has held back. */
  #wantsSlots(): boolean {
    const { steps, paused } = this.#run;
    if (steps.some(({ answer }) => answer !== null)) return true;
    return !paused && !steps.some(({ state }) => state === "open");
  }

  /** After this move, its open steps only wait, and nothing is to be done but to wait for them. */
  #rests({ steps, enqueue, again, finish, gates }: RunMove): boolean {
    const { options, holds } = this.#run;
    if (!storedOptions(options).releases || !holds || again || finish) return false;
    if (enqueue.length > 0 || gates.length > 0) return false;
    const after = new Map(this.#run.steps.map((seen) => [seen.name, isWaiting(seen)]));
    for (const { name, state, wait } of steps)
      after.set(name, state === "open" ? wait !== undefined : undefined);
    const open = [...after.values()].filter((each) => each !== undefined);
    return open.length > 0 && open.every(Boolean);
  }

  #start(): NonNullable<RunMove["start"]> {
    const { timeoutMs = null } = isStarted(this.#run) ? storedOptions(this.#run.options) : this.#graph;
    return { gates: gatesOf(this.#run.id, this.#graph), timeoutMs };
  }

  /** A child that repeats an earlier one starts with the finished steps of that one. The next look sees them. */
  #takeOver(): RunMove | undefined {
    const { earlier = [], rerunOf, started } = this.#run;
    if (started || rerunOf === null || earlier.length === 0) return undefined;
    const steps = keptSteps(this.#graph.steps, new Map(earlier.map(({ name, state }) => [name, state])));
    if (steps.length === 0) return undefined;
    const start = { ...this.#start(), takeOver: { run: rerunOf, steps } };
    return { ...nothing(this.#run), start, again: true };
  }

  #finish(finish: Finish): RunMove["finish"] {
    if (finish.state === "failed") return failed(this.#run, failure(finish.steps), this.#settings);
    return { state: "succeeded", body: this.#text("The result of the run", finish.result) };
  }

  /** Puts a step in line, or leaves it to the next look if this one has built enough. */
  #open(written: UnitStep, input: Json | undefined) {
    if (this.#wanted.isFull) {
      this.#again = true;
      return [];
    }
    const step = this.#readied(written);
    if (!step) return [];
    const text = input === undefined ? "" : this.#text(`The input of step "${step.name}"`, input);
    // A step that ends at once affects other steps.
    if (step.kind === "run" && step.detached?.wait === false) this.#again = true;
    return [{ step, unit: unitOf(this.#home, step, text, this.#settings) }];
  }

  /** The step with its locks. If it cannot begin, it fails and says why. */
  #readied(step: UnitStep): UnitStep | undefined {
    try {
      if (step.kind === "run") refuseTooDeep(this.#home, step);
      return withLocks(this.#home, step, valuesOf(this.#graph, this.#now()));
    } catch (error) {
      const { name, code, message } = error as SluiceError;
      const body = JSON.stringify({ name, code, message });
      this.#steps.push({ name: step.name, state: "failed", unit: null, body });
      this.#again = true;
      return undefined;
    }
  }

  /** Lets a step begin to wait, or leaves it to the next look if this one has built enough. */
  #wait(waiting: BeginningWait): void {
    if (this.#wanted.isFull) {
      this.#again = true;
      return;
    }
    const { size, ...step } = beginToWait(waiting, this.#wanted.most);
    this.#wanted.built(size);
    this.#steps.push(step);
    this.#again ||= step.state === "failed";
  }

  #text(what: string, value: Json): string {
    const text = boundedText(what, value, this.#wanted.most);
    this.#wanted.built(text.length);
    return text;
  }

  /** Records a step that has ended. A step over a list continues or ends. */
  #absorb(seen: StepSeen): void {
    if (seen.state !== "open") return;
    const { name, fan, answer } = seen;
    // The answer becomes the body of the step, where the next look finds it.
    if (answer !== null) {
      this.#steps.push({ name, state: answer, unit: null, body: null, answered: true });
      // A failure has no output to wait for, and stops other steps now.
      if (answer === "failed" && this.#graph.failFast) this.#states.set(name, answer);
      this.#again = true;
    }
    if (seen.ended !== null) this.#steps.push(endOf(seen));
    const step = this.#graph.steps.find((each) => each.name === name);
    if (!fan || !step || step.kind === "wait") return;
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

  #create(step: UnitStep, fan: NonNullable<StepSeen["fan"]>): void {
    if (this.#wanted.isFull || !this.#hasAll(step)) {
      this.#again = true;
      return;
    }
    for (const name of this.#namedIn(step)) this.#read(name);
    const values = valuesOf(this.#graph, this.#now());
    this.#take(create(this.#home, step, fan, values, this.#kept(step), this.#settings, this.#wanted));
  }

  #conclude(step: UnitStep, fan: NonNullable<StepSeen["fan"]>): void {
    const key = { run: this.#run.id, step: step.name };
    const sources = this.#withKept(step, [{ items: key }]);
    if (this.#wanted.isFull || !sources || !this.#wanted.has(`Step "${step.name}"`, sources)) {
      this.#again = true;
      return;
    }
    const items = this.#wanted.items(key);
    const kept = this.#kept(step);
    const failed = this.#graph.failFast ? unstartedBecause(items, kept) : undefined;
    if (failed !== undefined) {
      this.#steps.push(skipped(step.name, { kind: "failFast", step: failed }));
      this.#states.set(step.name, "skipped");
      return;
    }
    const { body, ...end } = conclude(step, fan, items, kept);
    this.#wanted.built(body.length);
    this.#steps.push({ ...end, body });
    this.#states.set(step.name, end.state);
    this.#concluded.set(step.name, body);
  }

  #expand(step: UnitStep): void {
    if (this.#wanted.isFull || !this.#hasAll(step)) {
      this.#again = true;
      return;
    }
    const values = valuesOf(this.#graph, this.#now());
    this.#take(begin(this.#home, step, values, this.#kept(step), this.#settings, this.#wanted));
  }

  #take(move: ReturnType<typeof begin>): void {
    this.#steps.push(...move.steps);
    this.#gates = [...this.#gates, ...move.gates];
    this.#enqueue = [...this.#enqueue, ...move.enqueue];
    this.#timers = [...this.#timers, ...move.timers];
    // A step that failed at once affects other steps.
    this.#again ||= move.again || move.steps.some(({ state }) => state === "failed");
  }

  /** The outcomes of items that this run takes over. Null if it takes over none. Asked after `#withKept`. */
  #kept(step: GraphStep): Kept {
    const key = this.#earlier(step);
    if (!key) return null;
    const text = this.#wanted.text({ body: key });
    // The run may have ended before its step did.
    if (text === null) return keptItems(this.#wanted.items(key));
    const outcomes = parse(text);
    return Array.isArray(outcomes) ? (outcomes as unknown as readonly ItemOutcome[]) : null;
  }

  #earlier(step: GraphStep) {
    const { rerunOf } = this.#run;
    return step.each && rerunOf !== null ? { run: rerunOf, step: step.name } : undefined;
  }

  /** With what the step takes over from an earlier run. Undefined until it is known where that is. */
  #withKept(step: GraphStep, sources: readonly DataSource[]): readonly DataSource[] | undefined {
    const key = this.#earlier(step);
    if (!key) return sources;
    const body = { body: key };
    const size = this.#wanted.sizeOf(body);
    if (size === undefined) {
      this.#wanted.has(step.name, [body]);
      return undefined;
    }
    return [...sources, body, ...(size === 0 ? [{ items: key }] : [])];
  }

  /** Everything that a step over a list needs to put its items in line. */
  #hasAll(step: GraphStep): boolean {
    const sources = this.#withKept(
      step,
      this.#namedIn(step).flatMap((name) => this.#sourcesOf(name)),
    );
    return sources !== undefined && this.#wanted.has(`Step "${step.name}"`, sources);
  }

  /** Steps whose outputs the items are made of. */
  #namedIn(step: GraphStep): string[] {
    return stepsOfEach(step).filter((name) => this.#states.get(name) === "succeeded");
  }

  /** The answer of `progress`. Steps that need more than can be read in this look stay pending. */
  #progress() {
    const later = new Set<string>();
    for (;;) {
      const answer = progress(this.#graph, { ...this.#now(), later });
      if (!("wants" in answer)) return answer;
      for (const want of answer.wants) {
        if (this.#grant(want)) for (const name of want.outputs) this.#read(name);
        else {
          this.#again = true;
          for (const name of want.outputs) if (!this.#outputs.has(name)) later.add(name);
        }
      }
    }
  }

  #grant({ by, outputs }: Want): boolean {
    const sources = outputs.flatMap((name) => this.#sourcesOf(name));
    const step = this.#graph.steps.find(({ name }) => name === by);
    const all = step ? this.#withKept(step, sources) : sources;
    return all !== undefined && this.#wanted.has(by === null ? "The result of the run" : `Step "${by}"`, all);
  }

  /** Where the output of a step is: with its unit, or with the step. */
  #sourcesOf(name: string): DataSource[] {
    return this.#concluded.has(name) ? [] : [this.#sourceOf(name)];
  }

  #sourceOf(name: string): Exclude<DataSource, { items: StepKey }> {
    const seen = this.#run.steps.find((step) => step.name === name);
    return seen?.fan || !seen?.unit
      ? { body: { run: this.#run.id, step: name } }
      : { unit: seen.unit, step: name };
  }

  /** The output of a step: the result of its unit, or the outcomes of its items. */
  #read(name: string): void {
    if (this.#outputs.has(name)) return;
    this.#outputs.set(name, parse(this.#concluded.get(name) ?? this.#wanted.text(this.#sourceOf(name))));
  }

  #now(): RunNow {
    const { input, paused } = this.#run;
    return { input: parse(input), steps: this.#states, outputs: this.#outputs, paused };
  }
}

/** The end of a run that fails, with the task that handles it. A run has one attempt. */
export function failed(run: RunSeen, error: Json, { newId }: Pick<UnitSettings, "newId">): RunMove["finish"] {
  const body = JSON.stringify(error);
  return { state: "failed", body, handler: handlerOf({ ...run, attempt: 1 }, { to: "failed", body }, newId) };
}

/** A step that does not wait for its run has ended as soon as that run is in line. */
function openedStep(step: UnitStep, { id }: NewUnit): StepMove {
  if (step.kind !== "run" || step.detached?.wait !== false)
    return { name: step.name, state: "open", unit: id, body: null };
  return { name: step.name, state: "succeeded", unit: null, body: JSON.stringify({ id }) };
}

/** True for a run that a step has started. Its step says how long it may take. */
function isStarted({ options }: RunSeen): boolean {
  const { scope, step } = storedOptions(options);
  return scope !== undefined || step !== undefined;
}

/** A move that changes nothing. */
export const nothing = ({ id, epoch }: RunSeen): RunMove => ({ ...STILL, run: id, epoch });

const gatesOf = (run: string, graph: Graph) =>
  graph.gates.map(({ name, limit }) => ({ key: runGateKey(run, name), limit }));

const failure = (steps: readonly string[]): Json => ({
  name: "StepsFailed",
  code: "STEPS_FAILED",
  message: `${steps.length === 1 ? "Step" : "Steps"} ${steps.join(", ")} did not succeed.`,
  steps,
});
