// The rows that a store shows to one pass, and what a claimer decides about them.

import { bornAs } from "../../src/core/gate/kind.ts";
import type { Report, Seat } from "../../src/engine/claiming/claims.ts";
import type { Decision } from "../../src/engine/claiming/decide.ts";
import { decide } from "../../src/engine/claiming/decide.ts";
import { servesText } from "../../src/engine/claiming/serving.ts";
import type {
  GateRow,
  HeadRow,
  LaneRow,
  PrefetchedRow,
  Scope,
  SessionRow,
  View,
} from "../../src/store/store.ts";

export const NOW = 10_000;

const seat: Seat = { name: "me", slots: 4, prefetch: 0, claimLeaseMs: 60_000, queues: ["q"], tasks: ["t"] };

const report = {
  finished: [],
  started: [],
  active: 0,
  appetite: 1_000,
  draining: false,
  hinted: true,
  ownTurn: false,
};

export const gate = (key: string, limit: number | null, more: Partial<GateRow> = {}): GateRow => ({
  key,
  limit,
  paused: false,
  line: bornAs(key).line,
  leaseMs: null,
  locked: true,
  ...more,
});

export const lane = (id: string, asks: Record<string, number>, more: Partial<LaneRow> = {}): LaneRow => ({
  id,
  queue: "q",
  task: "t",
  asks: JSON.stringify(Object.entries(asks)),
  rank: 100,
  state: "open",
  parked: null,
  head: { priority: 0, at: 0, id: "" },
  stamp: 1,
  mark: null,
  blocked: "[]",
  ...more,
});

export const head = (id: string, of: string, at: number, more: Partial<HeadRow> = {}): HeadRow => ({
  id,
  lane: of,
  priority: 0,
  at,
  goodUntil: null,
  ...more,
});

export const heads = (of: string, ...ids: readonly string[]): HeadRow[] =>
  ids.map((id, index) => head(id, of, index + 1));

export const session = (id: string, slots = 4, tasks = ["t"]): SessionRow => ({
  id,
  slots,
  serves: servesText(["q"], tasks),
});

export const ahead = (id: string, of: string, at: number, epoch: number): PrefetchedRow => ({
  ...head(id, of, at),
  epoch,
});

export const picture = (more: Partial<View>): View => ({
  now: NOW,
  gates: [],
  usage: [],
  lanes: [],
  heads: [],
  prefetched: [],
  sessions: [session("me")],
  lost: [],
  beyond: [],
  ...more,
});

export interface Turn {
  readonly seat?: Partial<Seat>;
  readonly report?: Partial<Report>;
  readonly scope?: Partial<Scope>;
  readonly want?: number;
}

export function decided(view: Partial<View>, turn: Turn = {}): Decision {
  const seen = picture(view);
  const scope: Scope = {
    session: "me",
    finished: [],
    started: [],
    lanes: seen.lanes.map(({ id }) => ({ id, want: turn.want ?? 100 })),
    without: [],
    exclusive: [],
    shared: [],
    intake: true,
    queues: ["q"],
    perQueue: 32,
    parkedOn: [],
    elsewhere: [],
    sideBySide: false,
    prefetching: 0,
    ...turn.scope,
  };
  return decide(seen, scope, { ...seat, ...turn.seat }, { ...report, ...turn.report });
}

export const claimed = ({ moves }: Decision): string[] =>
  moves.claim.map(({ id, held }) => (held ? id : `(${id})`));

export const running = (of: LaneRow, by: string, units: number, held = true) => ({
  lane: of.id,
  asks: of.asks,
  session: by,
  held,
  lost: false,
  units,
});
