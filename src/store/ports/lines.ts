/** Lines as people look at them: who waits, behind whom, and everything that is needed to say why. */
import type { AsideRow } from "./asides.ts";
import type { AppTasks } from "./declarations.ts";
import type { GateInfo } from "./gates.ts";
import type { HolderRow, Usage } from "./holdings.ts";
import type { HeadRow, LaneRow } from "./lanes.ts";
import type { SessionRow } from "./sessions.ts";
import type { TaskRow } from "./units.ts";

export interface LinePort {
  wait(id: string): Promise<WaitView | undefined>;
  /** How many units wait in each lane, those included that no pass has seen yet. Counts them all. */
  waiting(): Promise<WaitingRow[]>;
  /** Every gate that a unit asks for, wherever it is: in line, put off or at work, also before a pass has seen it. By key. */
  asked(): Promise<string[]>;
  queues(): Promise<QueueRow[]>;
  /** What waits in one queue, in order: `limit` units behind the first `offset`. */
  line(queue: string, limit: number, offset?: number): Promise<LineView>;
}

/** All that is needed to explain one wait, read at one instant. */
export interface WaitView {
  readonly now: number;
  readonly task: TaskRow;
  readonly rank: number;
  readonly gates: readonly GateInfo[];
  readonly usage: readonly Usage[];
  /** The best lanes that stand ahead of it at one of its gates, and its own, with the first units of each. */
  readonly lanes: readonly LaneRow[];
  readonly heads: readonly HeadRow[];
  readonly sessions: readonly SessionRow[];
  /** Which tasks each deployed app runs. */
  readonly apps: readonly AppTasks[];
  readonly holders: readonly HolderRow[];
  /** Its lane was set aside. */
  readonly aside: { readonly id: string; readonly error: string; readonly at: number } | null;
  /** Waiting units ahead of it, per lane of these. */
  readonly ahead: readonly AheadRow[];
  /** Waiting units ahead of it at each of its gates, and in its queue: all of them, in whatever lane. */
  readonly aheadAt: Readonly<Record<string, number>>;
  readonly before: number;
}

interface AheadRow {
  readonly lane: string;
  readonly asks: string;
  readonly units: number;
}

interface WaitingRow {
  readonly queue: string;
  readonly task: string;
  readonly asks: string;
  readonly units: number;
}

export interface QueueRow {
  readonly name: string;
  /** The first that an app says, or 100. */
  readonly rank: number;
  readonly ranks: readonly { readonly app: string; readonly rank: number }[];
  readonly waiting: number;
  readonly running: number;
  readonly later: number;
}

/** A page of one line as it stands: enough for `admit` to say of each unit in it whether it may start, and why not. */
export interface LineView {
  readonly now: number;
  readonly gates: readonly GateInfo[];
  readonly usage: readonly Usage[];
  readonly lanes: readonly LaneRow[];
  /** The units of the page, in order. */
  readonly heads: readonly HeadRow[];
  /** Units ahead of the page: all of them, or where they are very many the first of each lane. */
  readonly front: readonly HeadRow[];
  /** How many stand ahead of the page, lane by lane; all of them. */
  readonly ahead: readonly AheadRow[];
  readonly sessions: readonly SessionRow[];
  /** There are more units in this line. */
  readonly cut: boolean;
  /** Those of its lanes that were set aside. */
  readonly aside: readonly AsideRow[];
  /** How many stand in this line, and how many will when their time comes. */
  readonly total: number;
  readonly later: number;
}
