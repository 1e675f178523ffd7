/** Runs as people and programs see and steer them. */
import type { App } from "../core/app/app.ts";
import { SluiceError } from "../core/error.ts";
import { pausedWith, runGateKey } from "../core/gate/key.ts";
import type { Reason } from "../core/gate/reason.ts";
import type { AnyWorkflow, RunOutputOf } from "../core/workflow/definition.ts";
import type { Graph } from "../core/workflow/graph.ts";
import { isAttended } from "../engine/claiming/serving.ts";
import { waitsOf } from "../engine/claiming/wait.ts";
import type { Env } from "../engine/env.ts";
import type { RunDetail, RunFilter, RunState, StepMove, StepRow, Store } from "../store/store.ts";
import { RUNS } from "../store/store.ts";
import { untilEnded } from "./ended.ts";
import type { ItemView } from "./item-view.ts";
import { itemView } from "./item-view.ts";
import { runOf } from "./new-run.ts";
import { readable } from "./readable.ts";
import type { RunEvent, StepHistory } from "./run-events.ts";
import { poolsIn, runEvents, waitedPerGate } from "./run-events.ts";
import type { RunView, RunWithSteps } from "./run-view.ts";
import { runView, runWithSteps } from "./run-view.ts";
import { unknownRun } from "./unknown.ts";

/** How long a step waited for each gate. */
export type StepWaits = Readonly<
  Record<string, readonly { readonly gate: string; readonly forMs: number }[]>
>;

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

  async list(filter: Partial<RunFilter> = {}): Promise<RunView[]> {
    const rows = await this.#store.runs({ limit: 50, ...filter });
    return rows.map((row) => runView(row));
  }

  /** The run once it has ended, however it did. A signal ends the waiting, not the run. */
  async ended<Workflow extends AnyWorkflow = AnyWorkflow>(
    id: string,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<RunWithSteps<RunOutputOf<Workflow>>> {
    await this.#detail(id);
    // A look at the whole run counts the items of its lists; whether it has ended, its unit tells.
    await untilEnded(this.#store, id, signal);
    return runWithSteps(await this.#detail(id));
  }

  /** Wherever it is: queued or in progress. What runs of it is aborted, and everything it held is free at once. */
  async cancel(id: string, by = "code"): Promise<{ was: RunState }> {
    const cancelled = await this.#store.cancelRun(id, by);
    if (!cancelled) throw unknownRun(id);
    for (const hint of ["cancel", "runs", "work"]) this.#store.hint(hint);
    return cancelled;
  }

  /** What keeps a run in progress from going on, whatever its steps wait for: a pause, or that nobody lives to move it. */
  async reasons(id: string): Promise<readonly Reason[]> {
    const [{ run }, sessions] = await Promise.all([this.#detail(id), this.#store.sessions()]);
    if (run.state !== "started" && run.state !== "notStarted") return [];
    const isAlone = !isAttended(sessions);
    return [
      ...(run.paused ? [{ kind: "paused", gate: pausedWith(runGateKey(id, "")), ahead: 0 } as const] : []),
      ...(isAlone ? [{ kind: "noWorker", queue: RUNS, name: run.workflow } as const] : []),
    ];
  }

  /** None of its steps starts any more; those that run go on. */
  pause(id: string, by = "code"): Promise<void> {
    return this.#setPaused(id, true, by);
  }

  resume(id: string, by = "code"): Promise<void> {
    return this.#setPaused(id, false, by);
  }

  async #setPaused(id: string, paused: boolean, by: string): Promise<void> {
    const done = await this.#store.pauseRun(id, paused, by);
    this.#store.hint("work");
    if (done) return;
    const { run } = await this.#detail(id);
    throw new SluiceError(
      "NOT_IN_PROGRESS",
      `run ${id} is ${run.state}; only a run in progress can be ${paused ? "paused" : "resumed"}.`,
    );
  }

  /**
   * A new run of the same workflow and input that takes over what succeeded, unless it came after something that is run
   * again; `all` begins from nothing.
   */
  async rerun(
    id: string,
    { all = false, by = "code" }: { readonly all?: boolean; readonly by?: string } = {},
  ): Promise<{ id: string }> {
    const detail = await this.#detail(id);
    const { run } = detail;
    if (!isOver(run.state))
      throw new SluiceError(
        "NOT_FINISHED",
        `run ${id} is ${run.state}; only a finished run can be run again.`,
      );
    const workflow = this.#app?.workflows.get(run.workflow);
    if (!this.#app || !workflow)
      throw new SluiceError(
        "UNKNOWN_WORKFLOW",
        `workflow "${run.workflow}" is not part of this app. Give the app it belongs to.`,
      );
    const made = runOf(this.#app, workflow, run.input, {
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

  /** Items of a step over a list, by their places; `after` is the last place of the page before. */
  async items(
    id: string,
    step: string,
    { after = -1, limit = 100 }: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<ItemView[]> {
    await this.#detail(id);
    return (await this.#store.items(id, step, { after, limit })).map(itemView);
  }

  /** What happened, in order. */
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
    );
  }

  /** How long each step waited, and for what. */
  async waits(id: string): Promise<StepWaits> {
    const detail = await this.#detail(id);
    const now = await this.#store.now();
    const entries = await Promise.all(
      unitsOf(detail).map(async ({ step, unit }) => {
        const task = await this.#store.task(unit);
        if (!task || step.enqueuedAt === null) return [step.name, []] as const;
        const until = step.claimedAt ?? step.finishedAt ?? now;
        return [
          step.name,
          waitedPerGate(waitsOf(await this.#store.events(task.lane), step.enqueuedAt, until)),
        ] as const;
      }),
    );
    return Object.fromEntries(entries.filter(([, waits]) => waits.length > 0));
  }

  #histories(detail: RunDetail): Promise<Omit<StepHistory, "now">[]> {
    return Promise.all(
      unitsOf(detail).map(async ({ step, unit }) => {
        const [own, task] = await Promise.all([this.#store.events(unit), this.#store.task(unit)]);
        const lane = task ? await this.#store.events(task.lane) : [];
        const gates = task ? (readable(task.asks) as [string, number][]).map(([gate]) => gate) : [];
        return { step: step.name, pools: poolsIn(gates), own, lane };
      }),
    );
  }

  async #detail(id: string): Promise<RunDetail> {
    const detail = await this.#store.run(id);
    if (!detail) throw unknownRun(id);
    return detail;
  }
}

const isOver = (state: RunState): boolean =>
  state === "succeeded" || state === "failed" || state === "cancelled";

/** Units that this run put in line itself: those it took over are another run's. */
function unitsOf({ run, steps }: RunDetail): { step: StepRow; unit: string }[] {
  return steps.flatMap((step) =>
    step.unit === null || (step.enqueuedAt ?? 0) < run.createdAt ? [] : [{ step, unit: step.unit }],
  );
}

/**
 * Steps that succeeded, are still in the workflow, and do not come after one that is run again, as a step that handles a
 * failure does. What was skipped is decided anew. A step stands behind those it needs.
 */
function takenOver({ steps }: RunDetail, workflow: AnyWorkflow): StepMove[] {
  const before = new Map(steps.map((step) => [step.name, step]));
  const settled = new Set<string>();
  return workflow.plan.steps.flatMap(({ name, needs }) => {
    const step = before.get(name);
    const isOver = step?.state === "succeeded" || step?.state === "skipped";
    if (!step || !isOver || !needs.every((need) => settled.has(need.step))) return [];
    settled.add(name);
    const { state, unit, body } = step;
    return state === "succeeded" ? [{ name, state, unit, body }] : [];
  });
}
