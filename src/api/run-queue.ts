/** The line of runs: who stands where and why, who would start if a limit were another one, and how to change that. */
import { SluiceError } from "../core/error.ts";
import { describe, remedy } from "../core/gate/describe.ts";
import type { Limit } from "../core/gate/gate.ts";
import { inOrder } from "../core/gate/order.ts";
import type { Reason } from "../core/gate/reason.ts";
import { eachFrontOnce } from "../core/gate/reason.ts";
import { planOf } from "../engine/claiming/line.ts";
import { asideReason, withCauses } from "../engine/claiming/wait.ts";
import type { LineView, RunState, Store } from "../store/store.ts";
import { RUNS } from "../store/store.ts";
import { unknownRun } from "./unknown.ts";

export interface QueuedRun {
  readonly id: string;
  readonly workflow: string;
  /** 1 is next; null for one whose time has not come. */
  readonly position: number | null;
  readonly priority: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly queuedAt: number;
  /** What keeps it in line; empty when it starts with the next pass. */
  readonly reasons: readonly Reason[];
  readonly sentences: readonly { readonly text: string; readonly remedy?: string | undefined }[];
}

/** So many are read at once. */
const MOST = 5_000;

export class RunQueue {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** In the order in which they are looked at: priority first, then time. Those that come later are last. */
  async list({ limit = 1_000 }: { readonly limit?: number } = {}): Promise<QueuedRun[]> {
    const [view, rows] = await Promise.all([
      this.#store.line(RUNS, MOST),
      this.#store.runs({ state: "queued", limit: MOST }),
    ]);
    const { waiting } = planOf(view);
    const known = new Map(rows.map((row) => [row.id, row]));
    const lanes = new Map(view.lanes.map((lane) => [lane.id, lane]));
    const isServed = this.#isServed(view);
    const inLine = inOrder(view.heads.map((head) => ({ ...head, rank: 100 })));
    const standing = inLine.map((head, index): QueuedRun => {
      const reasons =
        asideOf(view, head.lane) ??
        waiting.get(head.id) ??
        (isServed ? [] : [nobody(lanes.get(head.lane)?.task ?? "")]);
      return {
        id: head.id,
        workflow: lanes.get(head.lane)?.task ?? "",
        position: index + 1,
        priority: head.priority,
        tags: JSON.parse(known.get(head.id)?.tags ?? "{}") as Record<string, string>,
        queuedAt: head.at,
        ...told(reasons, view.now),
      };
    });
    const later = rows
      .filter((row) => row.later)
      .sort((a, b) => a.queuedAt - b.queuedAt)
      .map(
        (row): QueuedRun => ({
          id: row.id,
          workflow: row.workflow,
          position: null,
          priority: row.priority,
          tags: JSON.parse(row.tags) as Record<string, string>,
          queuedAt: row.queuedAt,
          ...told([{ kind: "later", at: row.queuedAt, because: "delay" }], view.now),
        }),
      );
    return [...standing, ...later].slice(0, limit);
  }

  /** Its place and its reasons as in the list, and who holds what it waits for. */
  async why(id: string): Promise<QueuedRun> {
    const [line, view] = await Promise.all([
      this.list({ limit: Number.POSITIVE_INFINITY }),
      this.#store.wait(id),
    ]);
    const found = line.find((run) => run.id === id);
    if (!found) throw await this.#notQueued(id);
    return view ? { ...found, ...told(withCauses(found.reasons, view), view.now) } : found;
  }

  /** Only what is still in line; a run in progress is cancelled with `runs.cancel`. */
  async cancel(id: string, by = "code"): Promise<void> {
    const cancelled = await this.#store.cancelRun(id, by, "queued");
    if (cancelled?.was !== "queued") throw notQueued(id, cancelled?.was);
    this.#store.hint("runs");
  }

  async priority(id: string, priority: number, by = "code"): Promise<{ from: number }> {
    if (!Number.isSafeInteger(priority))
      throw new SluiceError("BAD_PRIORITY", `A priority is a whole number, got ${priority}.`);
    const changed = await this.#store.reprioritize(id, priority, by);
    if (!changed) throw await this.#notQueued(id);
    this.#store.hint("runs");
    return changed;
  }

  /** The runs that would start now if a limit were another one, in order; those that start anyway included. */
  async whatIf(
    gate: string,
    limit: Limit,
  ): Promise<{ readonly starts: readonly string[]; readonly more: readonly string[] }> {
    const view = await this.#store.line(RUNS, MOST);
    const now = new Set(planOf(view).admitted.map(({ id }) => id));
    const then = planOf(view, new Map([[gate, limit]])).admitted.map(({ id }) => id);
    return { starts: then, more: then.filter((id) => !now.has(id)) };
  }

  #isServed(view: LineView): boolean {
    return view.sessions.some(({ id }) => id !== RUNS);
  }

  async #notQueued(id: string): Promise<SluiceError> {
    return notQueued(id, (await this.#store.run(id))?.run.state);
  }
}

function asideOf(view: LineView, lane: string): readonly Reason[] | undefined {
  const found = view.aside.find(({ id }) => id === lane);
  return found && [asideReason(found)];
}

const nobody = (workflow: string): Reason => ({ kind: "noWorker", queue: RUNS, name: workflow });

function told(reasons: readonly Reason[], now: number): Pick<QueuedRun, "reasons" | "sentences"> {
  return {
    reasons: eachFrontOnce(reasons),
    sentences: reasons.map((reason) => ({ text: describe(reason, { now }), remedy: remedy(reason) })),
  };
}

function notQueued(id: string, state: RunState | undefined): SluiceError {
  if (state === undefined) return unknownRun(id);
  const cure =
    state === "started" || state === "notStarted" ? ` Cancel it with: sluice runs cancel ${id}` : "";
  return new SluiceError("NOT_QUEUED", `run ${id} is not queued: it is ${state}.${cure}`);
}
