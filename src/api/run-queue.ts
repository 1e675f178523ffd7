/** The line of runs: who stands where and why, who would start if a limit were another one, and how to change that. */

import { SluiceError } from "../core/error.ts";
import type { Limit } from "../core/gate/gate.ts";
import type { Remedy } from "../core/remedy.ts";
import { planOf, reasonsInLine } from "../engine/claiming/line.ts";
import { reasonsOf, withCauses } from "../engine/claiming/wait.ts";
import type { LineView, RunState, Store } from "../store/store.ts";
import { RUNS } from "../store/store.ts";
import type { Told } from "./explain.ts";
import { told } from "./explain.ts";
import { readable } from "./readable.ts";
import { unknownRun } from "./unknown.ts";

/** Its reasons are what keeps it in line; none when it starts with the next pass. */
export interface QueuedRun extends Told {
  readonly id: string;
  readonly workflow: string;
  /** 1 is next; null for one whose time has not come. */
  readonly position: number | null;
  readonly priority: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly queuedAt: number;
}

export interface QueuePage {
  readonly runs: readonly QueuedRun[];
  /** How many are queued in all, those included whose time has not come. */
  readonly total: number;
  readonly after: number;
}

/** So many are shown at once unless one asks for more. */
const A_PAGE = 1_000;
/** So many are looked at to say what another limit would do. */
const MOST = 5_000;

export class RunQueue {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * In the order in which they are looked at: priority first, then time. Those that come later are last. `after`: how
   * many of them come before the page.
   */
  async list(page: { readonly limit?: number; readonly after?: number } = {}): Promise<QueuedRun[]> {
    return [...(await this.page(page)).runs];
  }

  /** The same, with how many there are in all. */
  async page({
    limit = A_PAGE,
    after = 0,
  }: {
    readonly limit?: number;
    readonly after?: number;
  } = {}): Promise<QueuePage> {
    const most = Math.min(limit, Number.MAX_SAFE_INTEGER - after);
    const view = await this.#store.line(RUNS, most, after);
    const room = most - view.heads.length;
    const late = room > 0 && view.later > 0 ? await this.#later(view, room, after) : [];
    return { runs: [...(await this.#standing(view, after)), ...late], total: view.total + view.later, after };
  }

  async #standing(view: LineView, after: number): Promise<QueuedRun[]> {
    const why = reasonsInLine(view);
    const tags = await this.#tagsOf(view.heads.map(({ id }) => id));
    const lanes = new Map(view.lanes.map((lane) => [lane.id, lane]));
    return view.heads.map(
      ({ id, lane, priority, at }, index): QueuedRun => ({
        id,
        workflow: lanes.get(lane)?.task ?? "",
        position: after + index + 1,
        priority,
        tags: tags.get(id) ?? {},
        queuedAt: at,
        ...told(withCauses(why.get(id) ?? [], { ...view, holders: [] }), view.now),
      }),
    );
  }

  async #tagsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
    const rows = ids.length > 0 ? await this.#store.runs({ ids, limit: ids.length }) : [];
    return new Map(rows.map((row) => [row.id, readable(row.tags) as Record<string, string>]));
  }

  async #later({ now, total }: LineView, limit: number, after: number): Promise<QueuedRun[]> {
    const rows = await this.#store.laterRuns(limit, Math.max(0, after - total));
    return rows.map(
      (row): QueuedRun => ({
        id: row.id,
        workflow: row.workflow,
        position: null,
        priority: row.priority,
        tags: readable(row.tags) as Record<string, string>,
        queuedAt: row.queuedAt,
        ...told([{ kind: "later", at: row.queuedAt, because: "delay" }], now),
      }),
    );
  }

  /** Its place, everything that keeps it there, and who holds what it waits for. */
  async why(id: string): Promise<QueuedRun> {
    const [view, [row]] = await Promise.all([
      this.#store.wait(id),
      this.#store.runs({ ids: [id], limit: 1 }),
    ]);
    if (!view || !row) throw unknownRun(id);
    const { task, now, before } = view;
    if (task.state !== "waiting" && task.state !== "later")
      throw await this.#notQueued(id, { action: "explain", unit: id });
    return {
      id,
      workflow: row.workflow,
      position: task.state === "later" ? null : before + 1,
      priority: task.priority,
      tags: readable(row.tags) as Record<string, string>,
      queuedAt: task.at,
      ...told(reasonsOf(view), now),
    };
  }

  /** Only what is still in line; a run in progress is cancelled with `runs.cancel`. */
  async cancel(id: string, by = "code"): Promise<void> {
    const cancelled = await this.#store.cancelRun(id, by, "queued");
    if (cancelled?.was !== "queued") throw notQueued(id, cancelled?.was, { action: "cancelRun", run: id });
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

  async #notQueued(id: string, remedy?: Remedy): Promise<SluiceError> {
    return notQueued(id, (await this.#store.run(id))?.run.state, remedy);
  }
}

/** `remedy`: the verb that does the same for a run in progress. */
function notQueued(id: string, state: RunState | undefined, remedy?: Remedy): SluiceError {
  if (state === undefined) return unknownRun(id);
  const isOpen = state === "started" || state === "notStarted";
  return new SluiceError("NOT_QUEUED", `run ${id} is not queued: it is ${state}.`, {
    remedies: isOpen && remedy ? [remedy] : [],
  });
}
