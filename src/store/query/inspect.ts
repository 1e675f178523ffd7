/** Collects everything that the doctor looks at, in one snapshot and without locks. It judges nothing. */
import { isKey } from "../../core/gate/check-key.ts";
import type { Limit } from "../../core/gate/gate.ts";
import type { Flow } from "../flow.ts";
import { flight, send } from "../flow.ts";
import { isAsks } from "../lane.ts";
import type { Row } from "../row.ts";
import { int, intOrNull, only, text, textOrNull } from "../row.ts";
import { RUNS } from "../runs.ts";
import { leaseNow, now, raw, sql } from "../sql.ts";
import type { CountedTable, Inspection, LostClaim, Usage } from "../store.ts";
import { heldPerGate, newestPerGate } from "../usage.ts";
import { selectAside } from "./aside.ts";
import type { ParkedLane, ReadFromRows } from "./contradictions.ts";
import { sampleOf, selectAsks, selectContradictions, selectTasksAsking } from "./contradictions.ts";
import type { DatedGate } from "./gates.ts";
import { gateStates, selectGates } from "./gates.ts";
import { LOST, selectUsage, sessionRow } from "./look.ts";
import { waitingRow } from "./queues.ts";
import type { SayingOfGate } from "./saying.ts";
import { selectSayings } from "./saying.ts";
import { lookAfresh } from "./settings.ts";
import { selectStopping } from "./stopping.ts";

const CLAIMS = raw("sluice_running r LEFT JOIN sluice_session s ON s.id = r.session");
const COUNTED: readonly CountedTable[] = ["task", "waiting", "later", "running", "outcome", "event"];

/** A prefetched claim takes its slots when it starts. All others take them when they are made. */
const selectNewestGrants =
  sql`SELECT r.lane, l.asks, MAX(COALESCE(e.at, r.claimed_at)) AS at FROM ${CLAIMS} JOIN sluice_lane l ON l.id = r.lane
  LEFT JOIN sluice_event e ON e.subject = r.id AND e.n > r.claimed_n AND e.kind = 'TaskStarted'
  WHERE r.held = 1 AND NOT ${LOST} GROUP BY r.lane, l.asks
  UNION ALL SELECT r.lane, l.asks, MAX(r.claimed_at) AS at FROM sluice_stopping r LEFT JOIN sluice_session s ON s.id = r.session JOIN sluice_lane l ON l.id = r.lane
  WHERE NOT ${LOST} GROUP BY r.lane, l.asks`.as((row) => ({
    asks: text(row.asks),
    at: int(row.at),
  }));

function lostRow(row: Row): LostClaim {
  const spans = [intOrNull(row.ended_for), intOrNull(row.lapsed_for)].flatMap((ms) => ms ?? []);
  const forMs = spans.length > 0 ? Math.max(...spans) : null;
  return {
    id: text(row.id),
    epoch: int(row.epoch),
    queue: text(row.queue),
    task: text(row.name),
    forMs: forMs !== null && forMs >= 0 ? forMs : null,
  };
}

const selectLost =
  sql`SELECT r.id, r.epoch, t.queue, t.name, ${leaseNow} - s.expires_at AS ended_for, ${leaseNow} - r.until_at AS lapsed_for
  FROM ${CLAIMS} JOIN sluice_task t ON t.id = r.id WHERE ${LOST} ORDER BY r.epoch LIMIT 200`.as(lostRow);

/** Units that no pass has taken in yet are in line, too. */
const selectWaiting =
  sql`SELECT l.queue, l.task, SUM(u.units) AS units FROM (SELECT lane, count(*) AS units FROM sluice_waiting GROUP BY lane) AS u
  JOIN (SELECT id, queue, task FROM sluice_lane UNION SELECT lane, queue, task FROM sluice_arrival) AS l ON l.id = u.lane
  GROUP BY l.queue, l.task ORDER BY l.queue, l.task`.as(waitingRow);

interface Change {
  readonly gate: string;
  readonly at: number;
  readonly limit: Limit;
}

function changeRow(row: Row): Change {
  const [gate, at, data] = [text(row.name), int(row.at), textOrNull(row.data)];
  try {
    const { to = null }: { readonly to?: Limit } = JSON.parse(data ?? "{}");
    return { gate, at, limit: to };
  } catch {
    return { gate, at, limit: null };
  }
}

const LOOKS = {
  afresh: lookAfresh,
  clock: sql`SELECT ${now} AS now, (SELECT MAX(version) FROM sluice_schema) AS version`.as((row) => ({
    now: int(row.now),
    schema: int(row.version),
  })),
  gates: selectGates(),
  said: selectSayings(),
  usage: selectUsage(),
  newest: selectNewestGrants,
  changes:
    sql`SELECT g.name, e.at, e.data FROM sluice_gate g JOIN sluice_event e ON e.subject = g.name AND e.n = g.n`.as(
      changeRow,
    ),
  sessions:
    sql`SELECT id, name, slots, serves, started_at FROM sluice_session WHERE expires_at > ${leaseNow} AND id <> ${RUNS} ORDER BY id`.as(
      (row) => ({ ...sessionRow(row), name: text(row.name), startedAt: int(row.started_at) }),
    ),
  lost: selectLost,
  stopping: selectStopping(),
  waiting: selectWaiting,
  counts: raw(
    COUNTED.map((table) => `SELECT '${table}' AS name, count(*) AS many FROM sluice_${table}`).join(
      " UNION ALL ",
    ),
  ).as((row) => [text(row.name), int(row.many)] as const),
  asks: selectAsks,
  aside: selectAside(),
} as const;

export function* inspect(): Flow<Omit<Inspection, "settings">> {
  const seen = yield* flight({ ...LOOKS, ...selectContradictions });
  const unreadable = seen.asks.filter((asks) => !isAsks(asks));
  const malformed = yield* send(unreadable.length > 0 && selectTasksAsking(unreadable));
  const { clock, sessions, lost, stopping, waiting, aside } = seen;
  return {
    ...only(clock),
    gates: gatesOf(seen),
    sessions,
    lost,
    stopping,
    waiting,
    rows: rowsIn(new Map(seen.counts)),
    broken: {
      ...samples(seen),
      malformedTasks: sampleOf(malformed),
      misnamedGates: sampleOf(misnamed(seen.gates)),
      missingGates: sampleOf(missing(seen)),
    },
    aside,
  };
}

const rowsIn = (count: ReadonlyMap<string, number>): Inspection["rows"] => ({
  task: count.get("task") ?? 0,
  waiting: count.get("waiting") ?? 0,
  later: count.get("later") ?? 0,
  running: count.get("running") ?? 0,
  outcome: count.get("outcome") ?? 0,
  event: count.get("event") ?? 0,
});

type Contradictions = Readonly<
  Record<Exclude<keyof typeof selectContradictions, "parkedNowhere">, readonly string[]>
> & { readonly parkedNowhere: readonly ParkedLane[] };

const samples = (found: Contradictions): Omit<Inspection["broken"], ReadFromRows> => ({
  nowhere: sampleOf(found.nowhere),
  twice: sampleOf(found.twice),
  bodiless: sampleOf(found.bodiless),
  claimedTwice: sampleOf(found.claimedTwice),
  uncounted: sampleOf(found.uncounted),
  unreleased: sampleOf(found.unreleased),
  leftWaits: sampleOf(found.leftWaits),
  endlessWaits: sampleOf(found.endlessWaits),
  unheardAnswers: sampleOf(found.unheardAnswers),
  unborn: sampleOf(found.unborn),
  lateHeads: sampleOf(found.lateHeads),
  unfindable: sampleOf(found.unfindable),
  parkedNowhere: {
    ...sampleOf(found.parkedNowhere.map(({ id, gate }) => `${id} on ${gate ?? "no gate"}`)),
    gates: found.parkedNowhere.flatMap(({ gate }) => gate ?? []),
  },
  malformedGates: sampleOf(found.malformedGates),
});

interface GateLooks {
  readonly gates: readonly DatedGate[];
  readonly said: readonly SayingOfGate[];
  readonly usage: readonly Usage[];
  readonly newest: readonly { readonly asks: string; readonly at: number }[];
  readonly changes: readonly Change[];
}

function gatesOf({ gates, said, usage, newest, changes }: GateLooks): Inspection["gates"] {
  const isReadable = ({ asks }: { readonly asks: string }): boolean => isAsks(asks);
  const held = heldPerGate(usage.filter(isReadable));
  const granted = newestPerGate(newest.filter(isReadable));
  const changed = new Map(changes.map(({ gate, at, limit }) => [gate, { at, limit }]));
  return gateStates(gates, held, said).map((gate) => ({
    ...gate,
    grantedAt: granted.get(gate.key) ?? null,
    changed: changed.get(gate.key) ?? null,
  }));
}

function missing({ gates, said }: Pick<GateLooks, "gates" | "said">): string[] {
  const there = new Set(gates.map(({ key }) => key));
  const limited = said.filter(({ limit }) => limit !== null).map(({ gate }) => gate);
  return [...new Set(limited)].filter((gate) => !there.has(gate));
}

const misnamed = (gates: readonly DatedGate[]): string[] =>
  gates.filter(({ key }) => !isKey(key)).map(({ key }) => JSON.stringify(key));
