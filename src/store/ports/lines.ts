/** Lines as users see them: which unit waits behind which, and everything needed to say why. */

import type { AppNames } from "../../core/app/shared-names.ts";
import type { AsideRow } from "./asides.ts";
import type { GateInfo } from "./gates.ts";
import type { HolderRow, Usage } from "./holdings.ts";
import type { HeadRow, LaneRow } from "./lanes.ts";
import type { SessionRow } from "./sessions.ts";
import type { TaskRow } from "./units.ts";

export interface LinePort {
  wait(id: string): Promise<WaitView | undefined>;
  /** How many units wait in each lane, including lanes that no pass has seen yet. It counts every unit. */
  waiting(): Promise<WaitingRow[]>;
  /**
   * Every gate that a unit asks for, sorted by key. The unit may be in line, delayed or running, and no pass
   * need have seen it yet.
   */
  asked(): Promise<string[]>;
  queues(): Promise<QueueRow[]>;
  /** The units that wait in one queue, in order: `limit` units after the first `offset`. */
  line(queue: string, limit: number, offset?: number): Promise<LineView>;
}

/** Everything needed to explain one wait, read at one instant. */
export interface WaitView {
  readonly now: number;
  readonly task: TaskRow;
  readonly rank: number;
  readonly gates: readonly GateInfo[];
  readonly usage: readonly Usage[];
  /** The best lanes ahead of it at one of its gates, and its own lane, with the first units of each. */
  readonly lanes: readonly LaneRow[];
  readonly heads: readonly HeadRow[];
  readonly sessions: readonly SessionRow[];
  /** The tasks that each deployed app runs. */
  readonly apps: readonly AppNames[];
  readonly holders: readonly HolderRow[];
  /** Set if its lane was set aside. */
  readonly aside: { readonly id: string; readonly error: string; readonly at: number } | null;
  /** Waiting units ahead of it, for each of these lanes. */
  readonly ahead: readonly AheadRow[];
  /**
   * All waiting units ahead of it at each of its gates (`aheadAt`) and in its queue (`before`), in any lane.
   */
  readonly aheadAt: Readonly<Record<string, number>>;
  readonly before: number;
  /** The tasks that wait at one of its gates, in any place of the line. Each lane with a waiting unit once. */
  readonly rivals: readonly RivalRow[];
}

/** A lane that competes for slots, without its units. */
export interface RivalRow {
  readonly queue: string;
  readonly task: string;
  readonly asks: string;
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
  /** The best rank that an app declares, or 100. */
  readonly rank: number;
  readonly ranks: readonly { readonly app: string; readonly rank: number }[];
  readonly waiting: number;
  readonly running: number;
  readonly later: number;
}

/** A page of one line: enough for `admit` to say of each unit whether it may start, and why not. */
export interface LineView {
  readonly now: number;
  readonly gates: readonly GateInfo[];
  readonly usage: readonly Usage[];
  readonly lanes: readonly LaneRow[];
  /** The units of the page, in order. */
  readonly heads: readonly HeadRow[];
  /** Units ahead of the page: all of them or, if there are very many, the first of each lane. */
  readonly front: readonly HeadRow[];
  /** How many units are ahead of the page in each lane, all of them counted. */
  readonly ahead: readonly AheadRow[];
  readonly sessions: readonly SessionRow[];
  /** There are more units in this line. */
  readonly cut: boolean;
  /** Lanes of this line that were set aside. */
  readonly aside: readonly AsideRow[];
  /** How many units are in this line (`total`), and how many will join it when their time comes (`later`). */
  readonly total: number;
  readonly later: number;
}
