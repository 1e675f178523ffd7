/** The feed in memory. One verb runs at a time, so changes are recorded in the order of commits. */
import { topicOf } from "../../core/change.ts";
import type { RunChange } from "../feed.ts";
import { covers, keepBehind, keepFor, placeOfGate, wants } from "../feed.ts";
import type { Change, EventRow, FeedCursor, FeedLook, Listener, NewChange, Page, Renewal } from "../store.ts";
import { LEAST_KEEP_MS, MARGIN_MS, RUNS, waitOfSubject } from "../store.ts";

interface Open extends Listener {
  keepMs: number;
  since: number;
  untilAt: number;
}

type Untimed = Omit<NewChange, "at">;

/** The lookups for a change: the unit it is about, or the queue of its lane. */
interface Known {
  readonly unit: (id: string) => Unit | undefined;
  readonly queueOf: (lane: string) => string | null;
  /** Whether a unit has a claim that holds its slots. */
  readonly holds: (id: string) => boolean;
}

/** The admission of a run has the data of its own kind. A step tells which slots it took, once it took them. */
function dataOf(unit: Unit, kind: EventRow["kind"], data: string | null, holds: boolean): string | null {
  if (kind === "TaskClaimed" && unit.queue === RUNS) return JSON.stringify({ priority: unit.priority });
  if (kind === "TaskClaimed" && unit.run !== null && holds)
    return `${data?.slice(0, -1)},"asks":${unit.asks}}`;
  return kind === "TaskStarted" && unit.run !== null ? `{"asks":${unit.asks}}` : data;
}

interface Unit extends Pick<NewChange, "run" | "step" | "item"> {
  readonly name: string;
  readonly queue: string;
  readonly priority: number;
  readonly asks: string;
}

export class MemoryFeed {
  readonly #known: Known;
  readonly #listeners = new Map<string, Open>();
  #told: (Change & { readonly toldAt: number })[] = [];
  #pending: (() => Untimed)[] = [];
  #last = 0;
  #swept = 0;

  constructor(known: Known) {
    this.#known = known;
  }

  /** The event is part of the current verb, and is dropped if the verb fails. */
  event(row: EventRow): void {
    if (topicOf(row.kind) !== null) this.#pending.push(() => ofEvent(this.#known, row));
  }

  other(change: Partial<NewChange> & Pick<NewChange, "kind" | "subject" | "data">): void {
    this.#pending.push(() => ({ ...NOWHERE, ...change }));
  }

  run({ run, ...change }: RunChange): void {
    this.#pending.push(() => {
      const { name: task = null, queue = null } = this.#known.unit(run) ?? {};
      return { ...NOWHERE, ...change, subject: run, run, task, queue };
    });
  }

  forget(): void {
    this.#pending = [];
  }

  /** Records the pending changes that a listener wants. True if there were any. */
  publish(at: number): boolean {
    const pending = this.#pending;
    this.#pending = [];
    if (this.#listeners.size === 0) return false;
    const wanted = pending
      .map((change) => change())
      .filter((change) => [...this.#listeners.values()].some((listener) => wants(listener, change)));
    for (const change of wanted) {
      this.#last += 1;
      this.#told.push({ ...change, at, toldAt: at, position: this.#last });
    }
    return wanted.length > 0;
  }

  follow(at: number, listeners: readonly Listener[]): number {
    for (const listener of listeners) this.#open(at, listener, this.#last);
    return this.#last;
  }

  #open(at: number, listener: Listener, since: number): void {
    const keepMs = keepBehind(listener.keepMs, this.#behind(at, since));
    this.#listeners.set(listener.id, { ...listener, keepMs, since, untilAt: until(at, listener.keepMs) });
  }

  /** How long ago the first change after a position was published. */
  #behind(at: number, position: number): number {
    return at - (this.#told.find((change) => change.position > position)?.toldAt ?? at);
  }

  resume(at: number, listener: Listener, from: FeedCursor): boolean {
    const known = this.#listeners.get(from.listener);
    const isThere = from.position >= this.#swept && from.position <= this.#last;
    if (!known || from.position < known.since || !isThere || !covers(known, listener)) return false;
    this.#open(at, listener, from.position);
    return true;
  }

  changes({ after, limit, listeners }: FeedLook): Page {
    const all = this.#told.filter(({ position }) => position > after).slice(0, limit);
    return {
      changes: all.map(({ toldAt: _, ...change }) => change),
      more: all.length === limit,
      lapsed: after < this.#swept,
      alive: new Set(listeners.filter((id) => this.#listeners.has(id))),
    };
  }

  keep(at: number, listeners: readonly Renewal[], readUpTo: number): ReadonlySet<string> {
    const there = new Set<string>();
    const behindMs = this.#behind(at, readUpTo);
    for (const { id, keepMs } of listeners) {
      const listener = this.#listeners.get(id);
      if (!listener) continue;
      there.add(id);
      listener.keepMs = keepBehind(keepMs, behindMs);
      listener.untilAt = until(at, keepMs);
    }
    this.sweep(at);
    return there;
  }

  close(ids: readonly string[]): void {
    for (const id of ids) this.#listeners.delete(id);
  }

  sweep(at: number): void {
    const all = [...this.#listeners.values()];
    const keepMs = all.reduce((most, listener) => Math.max(most, listener.keepMs), LEAST_KEEP_MS);
    for (const { id, untilAt } of all) if (untilAt < at) this.#listeners.delete(id);
    const kept = this.#told.filter(({ toldAt }) => toldAt >= at - keepMs - MARGIN_MS);
    this.#swept = Math.max(this.#swept, (kept[0]?.position ?? this.#last + 1) - 1);
    this.#told = kept;
  }
}

const until = (at: number, keepMs: number): number => at + keepFor(keepMs) + MARGIN_MS;

const NOWHERE = { n: null, run: null, step: null, item: null, task: null, queue: null } as const;

function ofEvent(known: Known, { subject, n, kind, data }: EventRow): Untimed {
  const told = { ...NOWHERE, subject, n, kind, data };
  const topic = topicOf(kind);
  if (topic === "gate") return { ...told, ...placeOfGate(subject) };
  if (topic === "trigger") return told;
  if (topic === "lane") return { ...told, queue: known.queueOf(subject) };
  if (topic === "run") return ofWait(known, { subject, kind, data });
  const unit = known.unit(subject);
  if (!unit) throw new Error(`an event of ${subject}, which is no unit`);
  const { run, step, item, name: task, queue } = unit;
  return { ...told, run, step, item, task, queue, data: dataOf(unit, kind, data, known.holds(subject)) };
}

/** A step that waits is told as a part of its run. */
function ofWait(known: Known, { subject, kind, data }: Pick<EventRow, "subject" | "kind" | "data">): Untimed {
  const { run, step } = waitOfSubject(subject);
  const { name: task = null, queue = null } = known.unit(run) ?? {};
  return { ...NOWHERE, subject: run, kind, run, step, task, queue, data };
}
