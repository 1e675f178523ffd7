/**
 * The reads of a pass. They always come in later statements than the locks: a statement that waited for a
 * lock still sees the rows from before the wait (READ COMMITTED takes its snapshot when a statement begins).
 */

import { inByteOrder } from "../../core/text.ts";
import type { ParkedList } from "../parked.ts";
import type { Row } from "../row.ts";
import { flag, int, intOrNull, text, textOrNull } from "../row.ts";
import type { Sql } from "../sql.ts";
import {
  by,
  each,
  forNoKeyUpdate,
  forShare,
  forUpdateSkipLocked,
  leaseNow,
  noneOf,
  now,
  oneOf,
  raw,
  rows,
  sql,
  throughKey,
} from "../sql.ts";
import type { HeadRow, LaneRow, PrefetchedRow, Scope, SessionRow, Usage } from "../store.ts";
import type { NamedGate } from "./gate-row.ts";
import { ownGate } from "./gate-row.ts";
import { laneColumns, laneRow } from "./lane-row.ts";

/** The store's time. Always one row. */
export const selectNow = (): Sql<number> => sql`SELECT ${now} AS now`.as(({ now }) => int(now));

interface GateLocks {
  readonly mode: "exclusive" | "shared";
  readonly keys: readonly string[];
}

/**
 * All gates of a pass, ordered by name, whatever the mode of each lock. Limits change, so one pass may share
 * a gate that another wants exclusively. Without one order, two passes could deadlock.
 */
export function inLockOrder({ exclusive, shared }: Pick<Scope, "exclusive" | "shared">): GateLocks[] {
  const alone = new Set(exclusive);
  const runs: { mode: GateLocks["mode"]; keys: string[] }[] = [];
  for (const key of [...new Set([...exclusive, ...shared])].sort(inByteOrder)) {
    const mode = alone.has(key) ? "exclusive" : "shared";
    const last = runs.at(-1);
    if (last?.mode === mode) last.keys.push(key);
    else runs.push({ mode, keys: [key] });
  }
  return runs;
}

/** A gate that a pass has locked. `locked` is true for an exclusive lock. */
export interface LockedGate extends NamedGate {
  readonly locked: boolean;
}

/** Locks gates that are neighbours in this order. */
export const lockGates = ({ keys, mode }: GateLocks): Sql<LockedGate> => {
  const locked = mode === "exclusive";
  return sql`SELECT name, capacity, declared, set_by, paused, line, lease_ms FROM sluice_gate WHERE name ${oneOf(keys)} ORDER BY name${locked ? forNoKeyUpdate : forShare}`.as(
    (row) => ({ key: text(row.name), own: ownGate(row), locked }),
  );
};

/**
 * A claim is lost once its session has ended, or its own lease or the time to start it has run out. It counts
 * until a pass has taken it away.
 */
export const LOST = sql`(s.id IS NULL OR s.expires_at <= ${leaseNow} OR (r.until_at IS NOT NULL AND r.until_at <= ${leaseNow}))`;

const COUNTING = "SELECT lane, session, held, until_at FROM sluice_running";
/** The unit of such a claim has moved on, but its code still runs, and slots follow the code. */
const STOPPING = "SELECT lane, session, 1 AS held, until_at FROM sluice_stopping";

/**
 * PostgreSQL reads the claims by index, which forgets dead rows. The pages of its table keep them, or their
 * space, until a vacuum.
 */
const CLAIMS = by({
  postgres: `(SELECT * FROM (${COUNTING} ORDER BY id) AS c UNION ALL SELECT * FROM (${STOPPING} ORDER BY epoch) AS d)`,
  sqlite: `(${COUNTING} UNION ALL ${STOPPING})`,
  mysql: `(${COUNTING} UNION ALL ${STOPPING})`,
});

/** The only query of usage. Everything else is arithmetic on its rows. */
export const selectUsage = (): Sql<Usage> =>
  sql`SELECT u.lane, u.session, u.held, u.lost, u.units, l.asks FROM (
      SELECT r.lane, r.session, r.held, CASE WHEN ${LOST} THEN 1 ELSE 0 END AS lost, count(*) AS units
      FROM ${CLAIMS} AS r LEFT JOIN sluice_session s ON s.id = r.session
      GROUP BY 1, 2, 3, 4) AS u JOIN sluice_lane l ON l.id = u.lane`.as(usageRow);

const usageRow = (row: Row): Usage => ({
  lane: text(row.lane),
  asks: text(row.asks),
  session: text(row.session),
  held: flag(row.held),
  lost: flag(row.lost),
  units: int(row.units),
});

const LANE = laneColumns("l");
const LANE_FROM = raw("sluice_lane l LEFT JOIN sluice_queue q ON q.name = l.queue");
const BY_HEAD = raw("l.head_precedence, l.head_at, l.head_id");

export const selectLanes = (ids: readonly string[]): Sql<LaneRow> =>
  sql`SELECT ${LANE} FROM ${LANE_FROM} WHERE l.id ${oneOf(ids)}`.as(laneRow);

/** For each of these gates, one queue that has lanes parked there, or null. */
export const selectParkedQueues = (
  gates: readonly string[],
): Sql<{ readonly gate: string; readonly queue: string | null }> =>
  sql`SELECT g.gate, (SELECT l.queue FROM sluice_lane l WHERE l.parked = g.gate ORDER BY l.queue LIMIT 1) AS queue FROM ${rows(
    "g",
    { gate: "text" },
    gates.map((gate) => ({ gate })),
  )}`.as(({ gate, queue }) => ({ gate: text(gate), queue: textOrNull(queue) }));

/** The best lanes of a queue that are parked on a gate and ask it for as many slots as the list says. */
export const selectParked = (lists: readonly ParkedList[], without: readonly string[]): Sql<LaneRow> =>
  each(
    { gate: "text", queue: "text", least: "int", most: "int", take: "int" },
    lists.map(({ gate, queue, least, most, take }) => ({ gate, queue, least, most, take })),
    (of) => sql`SELECT ${LANE} FROM ${LANE_FROM} WHERE l.parked = ${of("gate")} AND l.queue = ${of("queue")}
      AND l.parked_slots >= ${of("least")} AND l.parked_slots <= ${of("most")} AND l.id ${noneOf(without)} ORDER BY ${BY_HEAD} LIMIT ${of("take")}`,
  ).as(laneRow);

/** Open lanes that the scope does not name, best first within each queue. */
export const selectBeyond = (scope: Pick<Scope, "queues" | "lanes" | "without" | "perQueue">): Sql<LaneRow> =>
  each(
    { queue: "text" },
    scope.queues.map((queue) => ({ queue })),
    (of) =>
      sql`SELECT ${LANE} FROM ${LANE_FROM} WHERE l.queue = ${of("queue")} AND l.state = 1
      AND l.id ${noneOf([...scope.lanes.map((lane) => lane.id), ...scope.without])} ORDER BY ${BY_HEAD} LIMIT ${raw(String(scope.perQueue))}`,
  ).as(laneRow);

interface Looking {
  readonly skipLocked: boolean;
  /** There may be arrivals that no pass has taken in yet. */
  readonly arriving: boolean;
}

export const selectHeads = (lanes: Scope["lanes"], looking: Looking): Sql<HeadRow> => {
  const wanted = lanes.map(({ id, want }) => ({ lane: id, want }));
  const front = fromFront(wanted, looking);
  return by({ postgres: fromHead(wanted, looking), sqlite: front, mysql: front }).as(headRow);
};

/** Includes lanes that no pass has taken in yet. */
export const selectFromFront = (lanes: Scope["lanes"]): Sql<HeadRow> =>
  fromFront(
    lanes.map(({ id, want }) => ({ lane: id, want })),
    { skipLocked: false, arriving: true },
  ).as(headRow);

const fromFront = (wanted: readonly { lane: string; want: number }[], looking: Looking): Sql =>
  each(
    WANTED,
    wanted,
    (of) => sql`${UNIT} FROM sluice_waiting w WHERE w.lane = ${of("lane")} ${firstOf(of("want"), looking)}`,
  );

const WANTED = { lane: "text", want: "int" } as const;
export const UNIT = raw("SELECT w.id, w.lane, w.precedence, w.at, w.good_until");

export const headRow = (row: Row): HeadRow => ({
  id: text(row.id),
  lane: text(row.lane),
  priority: 0 - int(row.precedence),
  at: int(row.at),
  goodUntil: intOrNull(row.good_until),
});

const firstOf = (want: Sql, { skipLocked }: Looking): Sql =>
  sql`ORDER BY w.precedence, w.at, w.id LIMIT ${want}${skipLocked ? lockingUnits : raw("")}`;

/**
 * Rows that were claimed long ago may still lie dead at the front of PostgreSQL's index. So begin at the
 * lane's head, or at its first arrival if that is earlier. The head is read first, and the line is looked up
 * from there. With a plain join, the planner may reverse that and walk over all the dead rows.
 */
function fromHead(wanted: readonly { lane: string; want: number }[], looking: Looking): Sql {
  const arrived = sql` LEFT JOIN (SELECT lane, min(precedence) AS precedence, min(at) AS at FROM sluice_arrival WHERE seq > 0 GROUP BY lane) AS a ON a.lane = i.lane`;
  const head = raw("(l.head_precedence, l.head_at, l.head_id)");
  const earliest = raw(
    "(LEAST(l.head_precedence, a.precedence), LEAST(l.head_at, a.at), CASE WHEN a.lane IS NULL THEN l.head_id ELSE '' END)",
  );
  const { arriving } = looking;
  return sql`SELECT x.* FROM ${rows("i", WANTED, wanted)} JOIN sluice_lane l ON l.id = i.lane${arriving ? arrived : raw("")}, LATERAL (${UNIT}
      FROM sluice_waiting w WHERE w.lane = i.lane AND (w.precedence, w.at, w.id) >= ${arriving ? earliest : head}
      ${firstOf(raw("i.want"), looking)}) AS x`;
}

const lockingUnits = by({ postgres: " FOR UPDATE OF w SKIP LOCKED", mysql: forUpdateSkipLocked, sqlite: "" });

/** The first prefetched claims of a session in each lane that have not started and still may start. */
export const selectPrefetched = (session: string, perLane: number): Sql<PrefetchedRow> =>
  sql`SELECT p.epoch, p.id, p.lane, p.precedence, p.at, p.good_until FROM (
      SELECT epoch, id, lane, precedence, at, good_until,
        row_number() OVER (PARTITION BY lane ORDER BY precedence, at, id) AS place FROM sluice_running
      WHERE ${throughKey("id")} AND session = ${session} AND held = 0 AND until_at > ${leaseNow} AND (good_until IS NULL OR good_until > ${now})) AS p
    WHERE p.place <= ${perLane} ORDER BY p.precedence, p.at, p.id`.as((row) => ({
    id: text(row.id),
    lane: text(row.lane),
    priority: 0 - int(row.precedence),
    at: int(row.at),
    goodUntil: intOrNull(row.good_until),
    epoch: int(row.epoch),
  }));

export interface NamedSession extends SessionRow {
  readonly name: string;
  readonly expiresAt: number;
}

export const selectSessions = (): Sql<NamedSession> =>
  sql`SELECT id, name, slots, serves, expires_at FROM sluice_session WHERE ${throughKey("id")} AND expires_at > ${leaseNow}`.as(
    (row) => ({ ...sessionRow(row), name: text(row.name), expiresAt: int(row.expires_at) }),
  );

/** A session as the decision sees it. */
export const unnamed = ({ id, slots, serves }: NamedSession): SessionRow => ({ id, slots, serves });

export const sessionRow = (row: Row): SessionRow => ({
  id: text(row.id),
  slots: int(row.slots),
  serves: text(row.serves),
});

/** The store's time and the sessions that are alive. Never empty. */
export const selectClockAndSessions = (): Sql<{
  readonly now: number;
  readonly session: SessionRow | null;
}> =>
  sql`SELECT c.now, s.id, s.slots, s.serves FROM (SELECT ${now} AS now) AS c LEFT JOIN sluice_session s ON ${throughKey("s.id")} AND s.expires_at > ${leaseNow}`.as(
    (row) => ({ now: int(row.now), session: row.id === null ? null : sessionRow(row) }),
  );
