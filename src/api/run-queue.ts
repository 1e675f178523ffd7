/**
 * The line of runs: the position of each run and why it waits, which runs would start under another limit,
 * and how to change that.
 */

import { SluiceError } from "../core/error.ts";
import type { Limit } from "../core/gate/gate.ts";
import { checkPage, sayNumber } from "../core/number.ts";
import type { Remedy } from "../core/remedy.ts";
import { planOf, reasonsInLine } from "../engine/claiming/line.ts";
import { reasonsOf, withCauses } from "../engine/claiming/wait.ts";
import type { LineView, RunState, Store } from "../store/store.ts";
import { RUNS } from "../store/store.ts";
import type { Told } from "./explain.ts";
import { told } from "./explain.ts";
import type { PageOptions } from "./filters.ts";
import { pageOptions } from "./filters.ts";
import { eachInTurn } from "./in-turn.ts";
import type { Limits } from "./limits.ts";
import { checkLimit } from "./limits.ts";
import { readable } from "./readable.ts";
import { unknownRun } from "./unknown.ts";

/** Its reasons say what keeps it in line. There are none if it starts in the next pass. */
export interface QueuedRun extends Told {
  readonly id: string;
  readonly workflow: string;
  /** 1 is next. Null if the run is not due yet. */
  readonly position: number | null;
  readonly priority: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly queuedAt: number;
}

export interface QueuePage {
  readonly runs: readonly QueuedRun[];
  /** The number of queued runs, including those not due yet. */
  readonly total: number;
  /** Those of them that are due and have a number. */
  readonly numbered: number;
  readonly after: number;
}

/** The default size of a page. */
const A_PAGE = 1_000;
/** The most runs considered when asking what another limit would do. */
const MOST = 5_000;

export class RunQueue {
  readonly #store: Store;
  readonly #limits: Limits;

  constructor(store: Store, limits: Limits) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * Runs in the order in which passes consider them: by priority, then by time. Runs not due yet come last.
   * `after` is the number of runs before the page.
   */
  async list(page: PageOptions = {}): Promise<QueuedRun[]> {
    return [...(await this.#page(pageOptions("queue.list", page))).runs];
  }

  /** The same, with the total. */
  async page(page: PageOptions = {}): Promise<QueuePage> {
    return this.#page(pageOptions("queue.page", page));
  }

  async #page({ limit = A_PAGE, after = 0 }: PageOptions): Promise<QueuePage> {
    checkPage(limit, after);
    const most = Math.min(limit, Number.MAX_SAFE_INTEGER - after);
    const view = await this.#store.line(RUNS, most, after);
    const room = most - view.heads.length;
    const late = room > 0 && view.later > 0 ? await this.#later(view, room, after) : [];
    const runs = [...(await this.#standing(view, after)), ...late];
    return { runs, total: view.total + view.later, numbered: view.total, after };
  }

  async #standing(view: LineView, after: number): Promise<QueuedRun[]> {
    const why = reasonsInLine(view);
    const tags = await this.#tagsOf(view.heads.map(({ id }) => id));
    const lanes = new Map(view.lanes.map((lane) => [lane.id, lane]));
    return eachInTurn(view.heads, (head, index): QueuedRun => {
      const { id, lane, priority, at } = head;
      return {
        id,
        workflow: lanes.get(lane)?.task ?? "",
        position: after + index + 1,
        priority,
        tags: tags.get(id) ?? {},
        queuedAt: at,
        ...told(withCauses(why(head), { ...view, holders: [] }), view.now),
      };
    });
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

  /** The run's position, everything that keeps it there, and the holders of the gates that it waits for. */
  async why(id: string): Promise<QueuedRun> {
    const [view, [row]] = await Promise.all([
      this.#store.wait(id),
      this.#store.runs({ ids: [id], limit: 1 }),
    ]);
    if (!view || !row) throw unknownRun(id);
    const { task, now, before } = view;
    if (task.state !== "waiting" && task.state !== "later")
      throw await this.#notQueued(id, { action: "explainRun", run: id });
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

  /** Cancels a run only if it is still in line. Use `runs.cancel` for a run in progress. */
  async cancel(id: string, by = "code"): Promise<void> {
    const cancelled = await this.#store.cancelRun(id, by, "queued");
    if (cancelled?.was !== "queued") throw notQueued(id, cancelled?.was, { action: "cancelRun", run: id });
    this.#store.hint("runs");
  }

  async priority(id: string, priority: number, by = "code"): Promise<{ from: number }> {
    if (!Number.isSafeInteger(priority))
      throw new SluiceError("BAD_PRIORITY", `A priority is a whole number, got ${sayNumber(priority)}.`);
    const changed = await this.#store.reprioritize(id, priority, by);
    if (!changed) throw await this.#notQueued(id);
    this.#store.hint("runs");
    return changed;
  }

  /**
   * The runs that would start now under another limit, in order (`starts`), and those of them that would not
   * start anyway (`more`). A limit of null is unset.
   */
  async whatIf(
    gate: string,
    limit: Limit,
  ): Promise<{ readonly starts: readonly string[]; readonly more: readonly string[] }> {
    if (limit !== null) checkLimit(gate, limit);
    await this.#limits.mustBeKnown(gate);
    const view = await this.#store.line(RUNS, MOST);
    const now = new Set(planOf(view).admitted.map(({ id }) => id));
    const then = planOf(view, new Map([[gate, limit]])).admitted.map(({ id }) => id);
    return { starts: then, more: then.filter((id) => !now.has(id)) };
  }

  async #notQueued(id: string, remedy?: Remedy): Promise<SluiceError> {
    return notQueued(id, (await this.#store.run(id))?.run.state, remedy);
  }
}

/** `remedy` is the verb that does the same for a run in progress. */
function notQueued(id: string, state: RunState | undefined, remedy?: Remedy): SluiceError {
  if (state === undefined) return unknownRun(id);
  const isOpen = state === "started" || state === "notStarted";
  return new SluiceError("NOT_QUEUED", `run ${id} is not queued: it is ${state}.`, {
    remedies: isOpen && remedy ? [remedy] : [],
  });
}
