/**
 * Finds rows that contradict each other, with one read per contradiction. All of them are empty in a store
 * that only its own verbs have written to. Every verb is one transaction, so this is true of every snapshot.
 */
import { LINES, UNLIMITED } from "../../core/gate/gate.ts";
import type { Row } from "../row.ts";
import { idOf, text, textOrNull } from "../row.ts";
import { RUNS, waitSubject } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { by, oneOf, raw, sql } from "../sql.ts";
import type { Contradiction, Sample } from "../store.ts";

const SHOWN = 10;
const FIRST = raw(`LIMIT ${SHOWN + 1}`);
const PLACES = ["waiting", "later", "running", "outcome"] as const;

export const sampleOf = (found: readonly string[]): Sample => ({
  ids: [...new Set(found)].sort().slice(0, SHOWN),
  more: found.length > SHOWN,
});

/** An id with the table where it was found. */
/** A lane and the gate that it is parked on. */
export interface ParkedLane {
  readonly id: string;
  readonly gate: string | null;
}

const placed = (row: Row): string => `${text(row.place)} ${text(row.id)}`;
const parkedOn = (row: Row): ParkedLane => ({ id: text(row.id), gate: textOrNull(row.parked) });

const isIn = (table: string, row: string): string =>
  `EXISTS (SELECT 1 FROM sluice_${table} x WHERE x.id = ${row}.id)`;

const nowhere = sql`SELECT t.id FROM sluice_task t WHERE ${raw(PLACES.map((place) => `NOT ${isIn(place, "t")}`).join(" AND "))} ORDER BY t.id ${FIRST}`;

/** From the tables with few rows to those with many. */
const twice = raw(
  PLACES.slice(0, -1)
    .map((place, index) => {
      const others = PLACES.slice(index + 1).map((other) => isIn(other, "u"));
      return `SELECT u.id FROM sluice_${place} u WHERE ${others.join(" OR ")}`;
    })
    .join(" UNION "),
);

const bodiless = raw(
  [...PLACES, "stopping", "deadline"]
    .map((table) => `SELECT '${table}' AS place, u.id FROM sluice_${table} u WHERE NOT ${isIn("task", "u")}`)
    .join(" UNION ALL "),
);

const claimedTwice = sql`SELECT r.id FROM sluice_running r WHERE r.id IN (SELECT id FROM sluice_running GROUP BY id HAVING count(*) > 1)
  OR r.epoch IN (SELECT epoch FROM sluice_running GROUP BY epoch HAVING count(*) > 1)
  OR r.epoch IN (SELECT epoch FROM sluice_stopping)`;

const uncounted = sql`SELECT r.id FROM (SELECT id, lane FROM sluice_running UNION ALL SELECT id, lane FROM sluice_stopping) AS r
  WHERE NOT EXISTS (SELECT 1 FROM sluice_lane l WHERE l.id = r.lane)`;

/** The end of its last unit leaves news, and with that news the run releases its slots. */
const unreleased = sql`SELECT r.id FROM sluice_stopping r WHERE r.session = ${RUNS}
  AND NOT EXISTS (SELECT 1 FROM sluice_stopping x WHERE x.run = r.id) AND NOT EXISTS (SELECT 1 FROM sluice_news n WHERE n.run = r.id)`;

const waitId = (row: Row): string => waitSubject({ run: text(row.run), step: text(row.step) });

const leftWaits = sql`SELECT w.run, w.step FROM sluice_wait w WHERE NOT EXISTS (SELECT 1 FROM sluice_running r WHERE r.id = w.run)
  AND NOT EXISTS (SELECT 1 FROM sluice_waiting l JOIN sluice_run u ON u.id = l.id WHERE l.id = w.run AND u.began_at IS NOT NULL)`;

const SUBJECT = by({
  postgres: "w.run || '/' || w.step",
  sqlite: "w.run || '/' || w.step",
  mysql: "CONCAT(w.run, '/', w.step)",
});

/** A step that is open has a unit, items or a wait. A wait that may take only some time has a timer. */
const endlessWaits = sql`SELECT s.run, s.name AS step FROM sluice_step s WHERE s.state = 'open' AND s.unit IS NULL AND s.lane IS NULL
    AND EXISTS (SELECT 1 FROM sluice_running r WHERE r.id = s.run) AND NOT EXISTS (SELECT 1 FROM sluice_wait w WHERE w.run = s.run AND w.step = s.name)
  UNION SELECT w.run, w.step FROM sluice_wait w WHERE w.state IS NULL AND w.late_state IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM sluice_timer t WHERE t.id = ${SUBJECT} AND t.kind = 'wait')`;

const unheardAnswers = sql`SELECT w.run, w.step FROM sluice_wait w JOIN sluice_step s ON s.run = w.run AND s.name = w.step
  WHERE w.state IS NOT NULL AND s.state = 'open' AND NOT EXISTS (SELECT 1 FROM sluice_news n WHERE n.run = w.run)
    AND NOT EXISTS (SELECT 1 FROM sluice_waiting l WHERE l.id = w.run)`;

/** The last epoch that was issued. */
const LAST_EPOCH = by({
  // This reads the view and not the sequence itself: a role that may insert need not have the right to read a
  // sequence.
  postgres:
    "SELECT MAX(last_value) FROM pg_sequences WHERE format('%I.%I', schemaname, sequencename)::regclass = to_regclass('sluice_running_epoch_seq')",
  sqlite: "SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'sluice_running'",
  mysql:
    "SELECT auto_increment - 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'sluice_running'",
});

const unborn = sql`SELECT u.id FROM (SELECT id, epoch FROM sluice_running UNION ALL SELECT id, epoch FROM sluice_stopping UNION ALL SELECT id, epoch FROM sluice_outcome) AS u
  WHERE u.epoch > (${LAST_EPOCH})`;

/**
 * A pending arrival will lower the head. An idle lane has no head, and no pass looks at a lane that is set
 * aside. The first unit stands for all behind it.
 */
const lateHeads = sql`SELECT l.id FROM sluice_lane l JOIN sluice_waiting w
    ON w.id = (SELECT f.id FROM sluice_waiting f WHERE f.lane = l.id ORDER BY f.precedence, f.at, f.id LIMIT 1)
  WHERE l.state IN (1, 2) AND (w.precedence, w.at, w.id) < (l.head_precedence, l.head_at, l.head_id)
    AND NOT EXISTS (SELECT 1 FROM sluice_arrival a WHERE a.lane = l.id AND (a.precedence, a.at, a.unit) <= (w.precedence, w.at, w.id))`;

const unfindable = sql`SELECT w.id FROM sluice_waiting w LEFT JOIN sluice_lane l ON l.id = w.lane
  WHERE (l.id IS NULL OR l.state = 0) AND w.lane NOT IN (SELECT lane FROM sluice_arrival)`;

const parkedNowhere = sql`SELECT l.id, l.parked FROM sluice_lane l
  WHERE l.state = 2 AND NOT EXISTS (SELECT 1 FROM sluice_gate g WHERE g.name = l.parked)`;

const malformedGates = sql`SELECT name AS id FROM sluice_gate
  WHERE capacity < ${UNLIMITED} OR declared < ${UNLIMITED} OR paused NOT IN (0, 1) OR NOT (line ${oneOf(LINES)})`;

/** Contradictions that only show when the rows are read. */
export type ReadFromRows = "malformedTasks" | "misnamedGates" | "missingGates";

export const selectContradictions = {
  nowhere: nowhere.as(idOf),
  twice: sql`${twice} ${FIRST}`.as(idOf),
  bodiless: sql`${bodiless} ${FIRST}`.as(placed),
  claimedTwice: sql`${claimedTwice} ${FIRST}`.as(idOf),
  uncounted: sql`${uncounted} ${FIRST}`.as(idOf),
  unreleased: sql`${unreleased} ${FIRST}`.as(idOf),
  leftWaits: sql`${leftWaits} ${FIRST}`.as(waitId),
  endlessWaits: sql`${endlessWaits} ${FIRST}`.as(waitId),
  unheardAnswers: sql`${unheardAnswers} ${FIRST}`.as(waitId),
  unborn: sql`${unborn} ${FIRST}`.as(idOf),
  lateHeads: sql`${lateHeads} ${FIRST}`.as(idOf),
  unfindable: sql`${unfindable} ${FIRST}`.as(idOf),
  parkedNowhere: sql`${parkedNowhere} ${FIRST}`.as(parkedOn),
  malformedGates: sql`${malformedGates} ${FIRST}`.as(idOf),
} as const satisfies Record<Exclude<Contradiction, ReadFromRows>, Sql<string | ParkedLane>>;

export const selectAsks = sql`SELECT DISTINCT asks FROM sluice_task`.as(({ asks }) => text(asks));

export const selectTasksAsking = (asks: readonly string[]): Sql<string> =>
  sql`SELECT id FROM sluice_task WHERE asks ${oneOf(asks)} ORDER BY id ${FIRST}`.as(idOf);
