/** Runs as users and programs see and control them. */
import type { App } from "../core/app/app.ts";
import { didYouMean } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import { runGateKey } from "../core/gate/key.ts";
import type { Reason } from "../core/gate/reason.ts";
import { keptSteps } from "../core/run/take-over.ts";
import { checkBy, shortly } from "../core/text.ts";
import type { AnyWorkflow, RunOutputOf } from "../core/workflow/definition.ts";
import type { Graph } from "../core/workflow/graph.ts";
import { waitsIn, waitsOf } from "../engine/claiming/wait.ts";
import type { Env } from "../env/env.ts";
import type { RunDetail, RunRow, RunState, StepMove, StepRow, Store, TaskRow } from "../store/store.ts";
import type { AnswerOptions } from "./answering.ts";
import { answerStep } from "./answering.ts";
import type { OptionNames, WaitOptions } from "./call-options.ts";
import { knownOptions, signalOf } from "./call-options.ts";
import { untilEnded } from "./ended.ts";
import type { ListedRuns, PageOptions, TreePage } from "./filters.ts";
import { pageOptions, runFilter, treePage } from "./filters.ts";
import type { ItemView } from "./item-view.ts";
import { itemView } from "./item-view.ts";
import { runOf } from "./new-run.ts";
import { readable } from "./readable.ts";
import type { RunEvent, StepHistory } from "./run-events.ts";
import { itemEvents, listEvents, poolsIn, runEvents, waitEvents, waitedPerGate } from "./run-events.ts";
import type { RunView, RunWithSteps } from "./run-view.ts";
import { runView, runWithSteps } from "./run-view.ts";
import type { RunWhy } from "./run-why.ts";
import { reasonsOfRun, runWhy } from "./run-why.ts";
import { findStep, namesIn } from "./step-path.ts";
import { neededApp, unknownRun } from "./unknown.ts";

/** How long each step waited for each gate. */
export type StepWaits = Readonly<
  Record<string, readonly { readonly gate: string; readonly forMs: number }[]>
>;

interface RerunOptions {
  /** Run every step again. */
  readonly all?: boolean;
  readonly by?: string;
}

const OF_RERUN: OptionNames<RerunOptions> = { all: true, by: true };

interface WhyOptions {
  /** How many steps to explain. */
  readonly most?: number;
}

const OF_WHY: OptionNames<WhyOptions> = { most: true };

/** Each explanation reads a part of a line. */
const MOST_EXPLAINED = 1_000;

export class Runs {
  readonly #store: Store;
  readonly #app: App | undefined;
  readonly #env: Env;

  constructor(store: Store, app: App | undefined, env: Env) {
    this.#store = store;
    this.#app = app;
    this.#env = env;
  }

  async get<Workflow extends AnyWorkflow = AnyWorkflow>(
    id: string,
  ): Promise<RunWithSteps<RunOutputOf<Workflow>> | undefined> {
    const detail = await this.#store.run(id);
    return detail && runWithSteps(detail);
  }

  /**
   * The runs below a run that is at the top of its tree, at any depth, in the order in which they were made. `child` says
   * where each of them stands.
   */
  async tree(id: string, page: TreePage = {}): Promise<RunView[]> {
    const { limit = 1_000, after } = treePage(page);
    await this.#detail(id);
    const rows = await this.#store.runs({ root: id, after, limit });
    return rows.map((row) => runView(row));
  }

  async list(filter: Partial<ListedRuns> = {}): Promise<RunView[]> {
    const rows = await this.#store.runs({ limit: 50, ...runFilter(filter) });
    return rows.map((row) => runView(row));
  }

  /** Waits until the run has ended, however it ends. A signal ends the wait, not the run. */
  async ended<Workflow extends AnyWorkflow = AnyWorkflow>(
    id: string,
    options: WaitOptions = {},
  ): Promise<RunWithSteps<RunOutputOf<Workflow>>> {
    const signal = signalOf("runs.ended", options);
    await this.#detail(id);
    // Waits on the run's unit, because reading the whole run counts the items of its lists.
    await untilEnded(this.#store, id, signal, this.#env);
    return runWithSteps(await this.#detail(id));
  }

  /**
   * Cancels a run, queued or in progress. Its running code is aborted; its slots are free once the code has
   * ended.
   */
  async cancel(id: string, by = "code"): Promise<{ was: RunState }> {
    const cancelled = await this.#store.cancelRun(id, by);
    if (!cancelled) throw unknownRun(id);
    for (const hint of ["cancel", "runs", "work"] as const) this.#store.hint(hint);
    return cancelled;
  }

  /** The reasons why a run in progress does not advance, apart from its steps' waits: a pause, or no live worker. */
  async reasons(id: string): Promise<readonly Reason[]> {
    const [{ run }, sessions] = await Promise.all([this.#detail(id), this.#store.sessions()]);
    return reasonsOfRun(run, sessions);
  }

  /**
   * The run, the reasons why it does not advance, and what its waiting steps wait for, all seen at one instant. The
   * reasons of a run in line are seen a moment later.
   */
  async why(id: string, options: WhyOptions = {}): Promise<RunWhy> {
    const { most = MOST_EXPLAINED } = knownOptions("runs.why", options, OF_WHY);
    const seen = await this.#store.runWaits(id, most);
    if (!seen) throw unknownRun(id);
    // A run that is back in line waits like any other unit.
    const line = seen.run.state === "queued" ? await this.#store.wait(id) : undefined;
    return runWhy(seen, () => this.#store.replaced(), line);
  }

  /** Starts no more of its steps. Running steps continue. */
  pause(id: string, by = "code"): Promise<void> {
    return this.#setPaused(id, true, by);
  }

  resume(id: string, by = "code"): Promise<void> {
    return this.#setPaused(id, false, by);
  }

  /**
   * Finds a step of the run, or of a run below it, by its path: `ok`, `group/ok`, `ship[3]/ok`. The unit is its task, or
   * the run that it is. It is null if the step only waits, or is not in line yet.
   */
  async find(id: string, path: string): Promise<{ run: string; step: string; unit: string | null }> {
    const { detail, step, unit } = await findStep(this.#store, await this.#detail(id), path);
    return { run: detail.run.id, step, unit };
  }

  /** Answers a step that waits for an approval. It succeeds. The step may be a path, as in `find`. */
  async approve(id: string, step: string, options: AnswerOptions = {}): Promise<void> {
    await answerStep(this.#store, await this.#detail(id), step, true, options);
  }

  /** Answers a step that waits for an approval. It fails with the code REJECTED. */
  async reject(id: string, step: string, options: AnswerOptions = {}): Promise<void> {
    await answerStep(this.#store, await this.#detail(id), step, false, options);
  }

  async #setPaused(id: string, paused: boolean, by: string): Promise<void> {
    // A child has gates of its own, too, but most of its steps ask for those of its root.
    const [row] = await this.#store.runs({ ids: [id], limit: 1 });
    if (row) refuseChild(row, paused ? "pause" : "resume");
    const done = await this.#store.pauseRun(id, paused, by);
    this.#store.hint("work");
    if (done) return;
    const { run } = await this.#detail(id);
    // It was admitted between the two looks, so it is in progress now.
    if (isOpen(run.state)) return this.#setPaused(id, paused, by);
    throw new SluiceError(
      "NOT_IN_PROGRESS",
      `run ${id} is ${run.state}; only a run in progress can be ${paused ? "paused" : "resumed"}.`,
    );
  }

  /**
   * Starts a new run of the same workflow and input. It takes over the steps that succeeded, unless they
   * depend on a step that runs again. `all` takes over nothing.
   */
  async rerun(id: string, options: RerunOptions = {}): Promise<{ id: string }> {
    const { all = false, by = "code" } = knownOptions("runs.rerun", options, OF_RERUN);
    checkBy(by);
    const detail = await this.#detail(id);
    const { run } = detail;
    refuseChild(run, "rerun");
    if (!isOver(run.state))
      throw new SluiceError(
        "NOT_FINISHED",
        `run ${id} is ${run.state}; only a finished run can be run again.`,
      );
    const app = neededApp(this.#app, "To rerun a run");
    const workflow = app.workflows.get(run.workflow);
    if (!workflow)
      throw new SluiceError(
        "UNKNOWN_WORKFLOW",
        `workflow "${run.workflow}" is not part of this app. Use the app it belongs to.`,
      );
    const made = runOf(app, workflow, run.input, {
      id: this.#env.newId(),
      direct: false,
      priority: run.priority,
      tags: readable(run.tags) as Record<string, string>,
      source: `rerun by ${by}`,
      rerun: { of: id, steps: all ? [] : takenOver(detail, workflow), all },
    });
    await this.#store.submit([made]);
    this.#store.hint("runs");
    return { id: made.id };
  }

  /** Items of a step over a list, by index. `after` is the last index of the previous page. */
  async items(id: string, step: string, page: PageOptions = {}): Promise<ItemView[]> {
    const { rows, lane, now } = await this.#page(id, step, pageOptions("runs.items", page));
    return rows.map((row) => itemView(row, lane, now));
  }

  /** The events of such a page of items, in order. */
  async itemEvents(id: string, step: string, page: PageOptions = {}): Promise<RunEvent[]> {
    const { rows, lane, now, pools } = await this.#page(id, step, pageOptions("runs.itemEvents", page));
    const histories = rows.map(
      async ({ item, unit }): Promise<StepHistory> => ({
        step,
        item,
        pools,
        own: await this.#store.events(unit),
        lane,
        now,
      }),
    );
    return itemEvents(await Promise.all(histories));
  }

  async #page(id: string, step: string, { after = -1, limit = 100 }: PageOptions) {
    const page = { after, limit };
    const detail = await this.#detail(id);
    checkStep(detail, step);
    const fan = detail.steps.find(({ name }) => name === step)?.fan;
    const [rows, lane, now] = await Promise.all([
      this.#store.items(id, step, page),
      fan ? this.#store.events(fan.lane) : [],
      this.#store.now(),
    ]);
    // All items of a step ask for the same gates.
    const first = rows[0] && (await this.#store.task(rows[0].unit));
    return { rows, lane, now, pools: first ? poolsOf(first) : [] };
  }

  /** The events of a run, in order. */
  async events(id: string): Promise<RunEvent[]> {
    const detail = await this.#detail(id);
    const { gates = [] } = readable(detail.graph) as Partial<Graph>;
    const [own, now, steps, gate] = await Promise.all([
      this.#store.events(id),
      this.#store.now(),
      this.#histories(detail),
      gates[0] ? this.#store.events(runGateKey(id, gates[0].name)) : [],
    ]);
    return runEvents(
      own,
      gate,
      detail.run.startedAt,
      steps.map((step) => ({ ...step, now })),
      runWithSteps(detail).steps.flatMap(({ name, state, items, wait }) => {
        if (items) return listEvents(name, state, items);
        return wait ? waitEvents(name, state, wait) : [];
      }),
    );
  }

  /**
   * How long each step waited, and for which gates. A step over a list counts from its first item to its
   * last.
   */
  async waits(id: string): Promise<StepWaits> {
    const detail = await this.#detail(id);
    const now = await this.#store.now();
    const entries = await Promise.all(
      unitsOf(detail).map(async ({ step, unit }) => {
        const task = await this.#store.task(unit);
        if (!task) return [step.name, []] as const;
        const lane = await this.#store.events(task.lane);
        return [step.name, waitedPerGate(waitsIn(lane, step.inLine, now))] as const;
      }),
    );
    const lists = await Promise.all(
      detail.steps.map(async ({ name, fan, items }) => {
        if (!fan || !items || items.enqueuedAt === null) return [name, []] as const;
        const until = items.waiting > 0 ? now : (items.until ?? now);
        const waits = waitsOf(await this.#store.events(fan.lane), items.enqueuedAt, until);
        return [name, waitedPerGate(waits)] as const;
      }),
    );
    return Object.fromEntries([...entries, ...lists].filter(([, waits]) => waits.length > 0));
  }

  #histories(detail: RunDetail): Promise<Omit<StepHistory, "now">[]> {
    return Promise.all(
      unitsOf(detail).map(async ({ step, unit }) => {
        const [own, task] = await Promise.all([this.#store.events(unit), this.#store.task(unit)]);
        const lane = task ? await this.#store.events(task.lane) : [];
        return { step: step.name, pools: task ? poolsOf(task) : [], own, lane };
      }),
    );
  }

  async #detail(id: string): Promise<RunDetail> {
    const detail = await this.#store.run(id);
    if (!detail) throw unknownRun(id);
    return detail;
  }
}

/** A run that is still queued has no rows of its steps, so the names come from its graph. */
function checkStep(detail: RunDetail, step: string): void {
  const known = namesIn(detail);
  if (known.length === 0 || known.includes(step)) return;
  throw new SluiceError(
    "UNKNOWN_STEP",
    `run ${detail.run.id} has no step ${shortly(step)}.${didYouMean(step, known)}`,
  );
}

/** Some verbs act on a whole tree. */
function refuseChild({ id, root }: RunRow, verb: "pause" | "resume" | "rerun"): void {
  if (root === null) return;
  throw new SluiceError("PART_OF_A_RUN", `run ${id} belongs to run ${root}; ${verb} that.`, {
    remedies: [verb === "rerun" ? { action: "rerun", run: root } : { action: "explainRun", run: root }],
  });
}

const isOpen = (state: RunState): boolean => state === "notStarted" || state === "started";

const isOver = (state: RunState): boolean =>
  state === "succeeded" || state === "failed" || state === "cancelled";

const poolsOf = ({ asks }: TaskRow): string[] =>
  poolsIn((readable(asks) as [string, number][]).map(([gate]) => gate));

/** Units that this run put in line itself. Units that it took over belong to another run. */
function unitsOf({ run, steps }: RunDetail): { step: StepRow; unit: string }[] {
  return steps.flatMap((step) =>
    step.unit === null || (step.enqueuedAt ?? 0) < run.createdAt ? [] : [{ step, unit: step.unit }],
  );
}

function takenOver({ steps }: RunDetail, workflow: AnyWorkflow): StepMove[] {
  const before = new Map(steps.map((step) => [step.name, step]));
  const states = new Map(steps.map(({ name, state }) => [name, state]));
  return keptSteps(workflow.plan.steps, states).flatMap((kept) => {
    const { name, state, unit, body } = before.get(kept) as StepRow;
    return [{ name, state, unit, body }];
  });
}
