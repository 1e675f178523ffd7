/** Everything a doctor looks at, in one snapshot and without a lock. Nothing is judged here. */
import { isKey } from "../../core/gate/check-key.ts";
import type { Limit } from "../../core/gate/gate.ts";
import type { Flow, Row } from "../flow.ts";
import { flight, flightOf } from "../flow.ts";
import { isAsks } from "../lane.ts";
import { RUNS } from "../runs.ts";
import { leaseNow, now, raw, sql } from "../sql.ts";
import type { Inspection, LostClaim } from "../store.ts";
import { heldPerGate, newestPerGate } from "../usage.ts";
import { asideRow, selectAside } from "./aside.ts";
import { sampleOf, selectAsks, selectContradictions, selectTasksAsking } from "./contradictions.ts";
import { selectSayings } from "./declare.ts";
import { LOST, selectUsage } from "./look.ts";
import { usageRow } from "./pass.ts";
import { gateStates, selectGates } from "./read.ts";
import { lookAfresh } from "./settings.ts";
import { selectStopping, stoppingRow } from "./stopping.ts";

const CLAIMS = raw("sluice_running r LEFT JOIN sluice_session s ON s.id = r.session");
const COUNTED = ["task", "waiting", "later", "running", "outcome", "event"] as const;

/** A prefetched claim takes its slots when it starts, all others when they are made. */
const selectNewestGrants = sql`SELECT r.lane, l.asks, MAX(COALESCE(e.at, r.claimed_at)) AS at FROM ${CLAIMS} JOIN sluice_lane l ON l.id = r.lane
  LEFT JOIN sluice_event e ON e.subject = r.id AND e.n > r.claimed_n AND e.kind = 'TaskStarted'
  WHERE r.held = 1 AND NOT ${LOST} GROUP BY r.lane, l.asks
  UNION ALL SELECT r.lane, l.asks, MAX(r.claimed_at) AS at FROM sluice_stopping r LEFT JOIN sluice_session s ON s.id = r.session JOIN sluice_lane l ON l.id = r.lane
  WHERE NOT ${LOST} GROUP BY r.lane, l.asks`;

const selectLost = sql`SELECT r.id, r.epoch, t.queue, t.name, ${leaseNow} - s.expires_at AS ended_for, ${leaseNow} - r.until_at AS lapsed_for
  FROM ${CLAIMS} JOIN sluice_task t ON t.id = r.id WHERE ${LOST} ORDER BY r.epoch LIMIT 200`;

/** What no pass has taken in yet is in line all the same. */
const selectWaiting = sql`SELECT l.queue, l.task, SUM(u.units) AS units FROM (SELECT lane, count(*) AS units FROM sluice_waiting GROUP BY lane) AS u
  JOIN (SELECT id, queue, task FROM sluice_lane UNION SELECT lane, queue, task FROM sluice_arrival) AS l ON l.id = u.lane
  GROUP BY l.queue, l.task ORDER BY l.queue, l.task`;

const LOOKS = {
  afresh: lookAfresh,
  clock: sql`SELECT ${now} AS now, (SELECT MAX(version) FROM sluice_schema) AS version`,
  gates: selectGates(),
  said: selectSayings(),
  usage: selectUsage(),
  newest: selectNewestGrants,
  changes: sql`SELECT g.name, e.at, e.data FROM sluice_gate g JOIN sluice_event e ON e.subject = g.name AND e.n = g.n`,
  sessions: sql`SELECT id, name, slots, serves, started_at FROM sluice_session WHERE expires_at > ${leaseNow} AND id <> ${RUNS} ORDER BY id`,
  lost: selectLost,
  stopping: selectStopping(),
  waiting: selectWaiting,
  counts: raw(
    COUNTED.map((table) => `SELECT '${table}' AS name, count(*) AS many FROM sluice_${table}`).join(
      " UNION ALL ",
    ),
  ),
  asks: selectAsks,
  aside: selectAside(),
} as const;

export function* inspect(): Flow<Omit<Inspection, "settings">> {
  const seen = yield* flightOf({ ...LOOKS, ...selectContradictions });
  const unreadable = seen.asks.map((row) => row.asks as string).filter((text) => !isAsks(text));
  const [malformed = []] = unreadable.length > 0 ? yield* flight(selectTasksAsking(unreadable)) : [];
  const samples = Object.keys(selectContradictions).map((name) => [
    name,
    sampleOf(seen[name as keyof typeof seen]),
  ]);
  return {
    now: Number(seen.clock[0]?.now),
    schema: Number(seen.clock[0]?.version),
    gates: gatesOf(seen),
    sessions: seen.sessions.map((row) => ({
      id: row.id as string,
      name: row.name as string,
      slots: Number(row.slots),
      serves: row.serves as string,
      startedAt: Number(row.started_at),
    })),
    lost: seen.lost.map(lostOf),
    stopping: seen.stopping.map(stoppingRow),
    waiting: seen.waiting.map((row) => ({
      queue: row.queue as string,
      task: row.task as string,
      units: Number(row.units),
    })),
    rows: Object.fromEntries(seen.counts.map((row) => [row.name, Number(row.many)])) as Inspection["rows"],
    broken: {
      ...Object.fromEntries(samples),
      malformedTasks: sampleOf(malformed),
      misnamedGates: sampleOf(misnamed(seen.gates)),
    } as Inspection["broken"],
    aside: seen.aside.map(asideRow),
  };
}

type Seen = Readonly<Record<"gates" | "said" | "usage" | "newest" | "changes", readonly Row[]>>;

function gatesOf({ gates, said, usage, newest, changes }: Seen): Inspection["gates"] {
  const readable = (rows: readonly Row[]): Row[] => rows.filter((row) => isAsks(row.asks as string));
  const held = heldPerGate(readable(usage).map(usageRow));
  const granted = newestPerGate(
    readable(newest).map((row) => ({ asks: row.asks as string, at: Number(row.at) })),
  );
  const changed = new Map(changes.map((row) => [row.name, changeOf(row)]));
  return gateStates(gates, held, said).map((gate) => ({
    ...gate,
    grantedAt: granted.get(gate.key) ?? null,
    changed: changed.get(gate.key) ?? null,
  }));
}

const misnamed = (gates: readonly Row[]): Row[] =>
  gates.filter((row) => !isKey(row.name as string)).map((row) => ({ id: JSON.stringify(row.name) }));

function changeOf({ at, data }: Row): { at: number; limit: Limit } {
  try {
    const { to = null } = JSON.parse((data as string | null) ?? "{}") as { to?: Limit };
    return { at: Number(at), limit: to };
  } catch {
    return { at: Number(at), limit: null };
  }
}

function lostOf(row: Row): LostClaim {
  const spans = [row.ended_for, row.lapsed_for].flatMap((ms) => (ms == null ? [] : [Number(ms)]));
  const forMs = spans.length > 0 ? Math.max(...spans) : null;
  return {
    id: row.id as string,
    epoch: Number(row.epoch),
    queue: row.queue as string,
    task: row.name as string,
    forMs: forMs !== null && forMs >= 0 ? forMs : null,
  };
}
