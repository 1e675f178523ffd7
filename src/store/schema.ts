/**
 * The tables, defined once, with the few words in which the dialects differ. No table depends on partial
 * indexes or arrays, so MySQL can have them too. Waiting and running units are in separate narrow tables, the
 * body of a task is in another one, and finished units leave them.
 */
import { SluiceError } from "../core/error.ts";
import type { Dialect } from "./sql.ts";

interface Words {
  readonly name: string;
  readonly text: string;
  /** Texts of bounded length. MySQL sorts and joins them in memory. */
  readonly short: string;
  readonly identity: string;
  /** The column of a claim's epoch, and the key constraint of its unit id. */
  readonly epoch: string;
  readonly claimKey: string;
  readonly hot: string;
  readonly cold: string;
  /** Stores rows in the order of their key. */
  readonly clustered: string;
  /** Limits an index to rows of runs, if the dialect can. */
  readonly ofRuns: string;
  /** The rows of child runs only. */
  readonly ofTrees: string;
  /** The table of an index, if the dialect must name it. */
  readonly ofLanes: string;
  /** The gate of the queue `q`. */
  readonly queueGate: string;
}

/**
 * Texts are equal if their bytes are, including trailing spaces, which "utf8mb4_bin" ignores. MySQL reads the
 * first of these comments, MariaDB the second. The connection uses the same collation for its own texts.
 */
export const BY_BYTES = "/*!80000 COLLATE utf8mb4_0900_bin *//*M!100200 COLLATE utf8mb4_nopad_bin */";

const WORDS: Readonly<Record<Dialect, Words>> = {
  postgres: {
    name: 'text COLLATE "C"',
    text: "text",
    short: "text",
    identity: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    // There is no index on the epoch: a claim is always looked up together with its unit.
    epoch: "bigint GENERATED ALWAYS AS IDENTITY",
    claimKey: "PRIMARY KEY",
    // Rows live for milliseconds, so vacuum early and leave room on the page.
    hot: " WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off)",
    cold: "",
    clustered: "",
    ofRuns: " WHERE run IS NOT NULL",
    ofTrees: " WHERE root IS NOT NULL",
    ofLanes: "",
    queueGate: "'queue:' || q.name",
  },
  sqlite: {
    name: "TEXT",
    text: "TEXT",
    short: "TEXT",
    identity: "INTEGER PRIMARY KEY AUTOINCREMENT",
    epoch: "INTEGER PRIMARY KEY AUTOINCREMENT",
    claimKey: "UNIQUE",
    hot: "",
    cold: "",
    clustered: " WITHOUT ROWID",
    ofRuns: " WHERE run IS NOT NULL",
    ofTrees: " WHERE root IS NOT NULL",
    ofLanes: "",
    queueGate: "'queue:' || q.name",
  },
  mysql: {
    name: "VARCHAR(191)",
    text: "LONGTEXT",
    short: "VARCHAR(4000)",
    identity: "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY",
    epoch: "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY",
    claimKey: "UNIQUE",
    hot: ` ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 ${BY_BYTES}`,
    cold: ` ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 ${BY_BYTES}`,
    clustered: "",
    ofRuns: "",
    ofTrees: "",
    ofLanes: " ON sluice_lane",
    queueGate: "CONCAT('queue:', q.name)",
  },
};

export const SCHEMA_VERSION = 6;

/** Refuses a store whose schema version this code does not support, and says what to do. */
export function checkVersion(version: number): void {
  if (version === 0)
    throw new SluiceError("SCHEMA_MISSING", "The store has no Sluice tables yet.", {
      remedies: [{ action: "migrate" }],
    });
  if (version < SCHEMA_VERSION)
    throw new SluiceError(
      "SCHEMA_MISSING",
      `The store has schema ${version}, this version needs ${SCHEMA_VERSION}.`,
      { remedies: [{ action: "migrate" }] },
    );
  if (version > SCHEMA_VERSION)
    throw new SluiceError(
      "SCHEMA_NEWER",
      `The store has schema ${version}, newer than this version supports (${SCHEMA_VERSION}). Upgrade sluice.`,
    );
}

/** The statements of each migration. A migration's position in the list, from 1, is its number. */
export function migrations(dialect: Dialect): readonly (readonly string[])[] {
  const third = trust(WORDS[dialect]);
  return [
    first(WORDS[dialect]),
    runs(WORDS[dialect]),
    dialect === "mysql" ? [...third, ...comparedByBytes()] : third,
    feed(WORDS[dialect]),
    [...nested(WORDS[dialect]), ...waits(WORDS[dialect])],
    [...locks(WORDS[dialect]), ...shared(WORDS[dialect])],
  ];
}

/** The last statement of a migration done by hand. It keeps the migration from being done again. */
export function recordVersion(version: number): string {
  return `INSERT INTO sluice_schema (version, applied_at) VALUES (${version}, 0)`;
}

export function versionTable(dialect: Dialect): string {
  return `CREATE TABLE IF NOT EXISTS sluice_schema (version INT NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL)${WORDS[dialect].cold}`;
}

function first({ name, text, short, identity, epoch, claimKey, hot, cold, clustered }: Words): string[] {
  const place = `precedence BIGINT NOT NULL, at BIGINT NOT NULL`;
  const life = `attempt BIGINT NOT NULL, losses BIGINT NOT NULL, good_until BIGINT, n BIGINT NOT NULL`;
  return [
    // Limits. capacity is the limit in force: -1 unlimited, 0 admits nothing, NULL unset. It may be changed
    // by plain SQL.
    `CREATE TABLE sluice_gate (name ${name} NOT NULL PRIMARY KEY, capacity BIGINT, declared BIGINT, paused SMALLINT NOT NULL DEFAULT 0, line ${name} NOT NULL, lease_ms BIGINT, set_by ${name}, set_at BIGINT, n BIGINT NOT NULL DEFAULT 0)${cold}${clustered}`,
    `CREATE TABLE sluice_queue (name ${name} NOT NULL PRIMARY KEY, queue_rank BIGINT NOT NULL)${cold}${clustered}`,
    // Lanes. state: 0 idle, 1 open, 2 parked, 3 set aside. head_* is a lower bound of the first place. stamp
    // guards every move.
    `CREATE TABLE sluice_lane (id ${name} NOT NULL PRIMARY KEY, queue ${name} NOT NULL, task ${name} NOT NULL, asks ${short} NOT NULL, state SMALLINT NOT NULL, parked ${name}, head_precedence BIGINT NOT NULL, head_at BIGINT NOT NULL, head_id ${name} NOT NULL, lowered SMALLINT NOT NULL DEFAULT 0, stamp BIGINT NOT NULL DEFAULT 0, mark_unit ${name}, mark_passed BIGINT NOT NULL DEFAULT 0, mark_since BIGINT NOT NULL DEFAULT 0, blocked ${short} NOT NULL, n BIGINT NOT NULL DEFAULT 0)${hot}${clustered}`,
    `CREATE INDEX sluice_lane_view ON sluice_lane (queue, state, head_precedence, head_at, head_id)`,
    `CREATE INDEX sluice_lane_parked ON sluice_lane (parked, head_precedence, head_at, head_id)`,
    // Arrivals since the last pass. They tell it which lanes to open. One row per call and lane.
    `CREATE TABLE sluice_arrival (seq ${identity}, lane ${name} NOT NULL, queue ${name} NOT NULL, task ${name} NOT NULL, asks ${short} NOT NULL, ${place}, unit ${name} NOT NULL)${hot}`,
    `CREATE TABLE sluice_task (id ${name} NOT NULL PRIMARY KEY, name ${name} NOT NULL, queue ${name} NOT NULL, lane ${name} NOT NULL, asks ${short} NOT NULL, priority BIGINT NOT NULL, input ${text} NOT NULL, options ${text} NOT NULL, idem_key ${name}, good_until BIGINT, created_at BIGINT NOT NULL)${cold}`,
    `CREATE UNIQUE INDEX sluice_task_key ON sluice_task (name, idem_key)`,
    `CREATE TABLE sluice_waiting (id ${name} NOT NULL PRIMARY KEY, lane ${name} NOT NULL, ${place}, ${life})${hot}${clustered}`,
    `CREATE INDEX sluice_waiting_line ON sluice_waiting (lane, precedence, at, id, good_until)`,
    `CREATE TABLE sluice_later (id ${name} NOT NULL PRIMARY KEY, lane ${name} NOT NULL, ${place}, ${life}, because ${name} NOT NULL)${hot}${clustered}`,
    `CREATE INDEX sluice_later_due ON sluice_later (at)`,
    `CREATE TABLE sluice_deadline (id ${name} NOT NULL PRIMARY KEY, at BIGINT NOT NULL)${hot}${clustered}`,
    `CREATE INDEX sluice_deadline_due ON sluice_deadline (at)`,
    // One row per claim. Its number is the epoch. It grows with every claim and is never reused.
    `CREATE TABLE sluice_running (epoch ${epoch}, id ${name} NOT NULL ${claimKey}, lane ${name} NOT NULL, session ${name} NOT NULL, held SMALLINT NOT NULL, until_at BIGINT, claimed_at BIGINT NOT NULL, claimed_n BIGINT NOT NULL, started_at BIGINT, progress ${text}, ${place}, ${life})${hot}`,
    `CREATE TABLE sluice_outcome (id ${name} NOT NULL PRIMARY KEY, state ${name} NOT NULL, epoch BIGINT, attempt BIGINT NOT NULL, losses BIGINT NOT NULL, body ${text}, session ${name}, claimed_at BIGINT, claimed_n BIGINT, finished_at BIGINT NOT NULL, n BIGINT NOT NULL)${cold}${clustered}`,
    // Events that the rows of a task, a claim or an outcome do not imply: retries, losses, logs, limits,
    // waits of lanes.
    `CREATE TABLE sluice_event (subject ${name} NOT NULL, n BIGINT NOT NULL, kind ${name} NOT NULL, at BIGINT NOT NULL, data ${text}, PRIMARY KEY (subject, n))${cold}${clustered}`,
    // Counts the hints that there may be work. MySQL uses it instead of NOTIFY.
    `CREATE TABLE sluice_hint (id INT NOT NULL PRIMARY KEY, n BIGINT NOT NULL)${cold}`,
    `INSERT INTO sluice_hint (id, n) VALUES (1, 0)`,
    `CREATE TABLE sluice_session (id ${name} NOT NULL PRIMARY KEY, name ${name} NOT NULL, slots BIGINT NOT NULL, serves ${text} NOT NULL, expires_at BIGINT NOT NULL, started_at BIGINT NOT NULL)${cold}${clustered}`,
  ];
}

/** Runs, their steps, their news, and the triggers that start them. */
function runs({ name, text, short, identity, hot, cold, clustered, ofRuns }: Words): string[] {
  return [
    `ALTER TABLE sluice_task ADD COLUMN run ${name}`,
    `ALTER TABLE sluice_task ADD COLUMN step ${name}`,
    `ALTER TABLE sluice_task ADD COLUMN item BIGINT`,
    `CREATE INDEX sluice_task_run ON sluice_task (run, step, item)${ofRuns}`,
    `CREATE INDEX sluice_later_lane ON sluice_later (lane)`,
    // The shortest lease of the pools it holds. Each renewal sets until_at again for as long as the claim
    // lives.
    `ALTER TABLE sluice_running ADD COLUMN lease_ms BIGINT`,
    // lease_ms is the lease in force, lease_declared the one that the app declares.
    `ALTER TABLE sluice_gate ADD COLUMN lease_declared BIGINT`,
    `UPDATE sluice_gate SET lease_declared = lease_ms`,
    // A run's body, place, claim and end are in the tables of all units. This table has what only runs have.
    `CREATE TABLE sluice_run (id ${name} NOT NULL PRIMARY KEY, workflow ${name} NOT NULL, graph ${name} NOT NULL, tags ${short} NOT NULL, source ${name} NOT NULL, rerun_of ${name}, paused SMALLINT NOT NULL DEFAULT 0)${cold}${clustered}`,
    `CREATE INDEX sluice_run_workflow ON sluice_run (workflow, id)`,
    `CREATE TABLE sluice_graph (hash ${name} NOT NULL PRIMARY KEY, body ${text} NOT NULL)${cold}${clustered}`,
    // Steps that are no longer pending.
    // For a step over a list: the lane of its items, how many it has, and how many of them were put in line.
    `CREATE TABLE sluice_step (run ${name} NOT NULL, name ${name} NOT NULL, state ${name} NOT NULL, unit ${name}, body ${text}, lane ${name}, total BIGINT, created BIGINT, PRIMARY KEY (run, name))${cold}${clustered}`,
    // Runs to look at. A row is written with each change that calls for a look, and the first reader takes
    // it. failed: a step with an item that did not succeed.
    `CREATE TABLE sluice_news (seq ${identity}, run ${name} NOT NULL, failed ${name})${hot}`,
    `CREATE TABLE sluice_timer (id ${name} NOT NULL, kind ${name} NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (id, kind))${hot}${clustered}`,
    `CREATE INDEX sluice_timer_due ON sluice_timer (at)`,
    // The last success of each workflow. Automations look at it.
    `CREATE TABLE sluice_success (workflow ${name} NOT NULL PRIMARY KEY, run ${name} NOT NULL, at BIGINT NOT NULL)${cold}${clustered}`,
    // Schedules, sensors and automations. stamp guards every change: the second writer changes nothing.
    `CREATE TABLE sluice_trigger (name ${name} NOT NULL PRIMARY KEY, kind ${name} NOT NULL, workflow ${name} NOT NULL, spec ${text} NOT NULL, state ${text} NOT NULL, next_at BIGINT, paused SMALLINT NOT NULL DEFAULT 0, stamp BIGINT NOT NULL DEFAULT 0, busy_until BIGINT)${cold}${clustered}`,
    // The session of runs in progress. It never ends: a run does not die with the process that admitted it.
    `INSERT INTO sluice_session (id, name, slots, serves, expires_at, started_at) VALUES ('@runs', '@runs', 1000000000, '{"queues":["@runs"],"tasks":["*"]}', 9000000000000000, 0)`,
  ];
}

/**
 * Slots that follow the code, limits that belong to the app that declares them, and lanes that no pass can
 * process.
 */
function trust({ name, text, short, hot, cold, clustered, ofLanes, queueGate }: Words): string[] {
  return [
    // How many slots a parked lane asks of its gate. Lanes parked by earlier versions are opened again.
    `ALTER TABLE sluice_lane ADD COLUMN parked_slots BIGINT NOT NULL DEFAULT 1`,
    `UPDATE sluice_lane SET state = 1, parked = NULL, stamp = stamp + 1 WHERE state = 2`,
    `DROP INDEX sluice_lane_parked${ofLanes}`,
    `CREATE INDEX sluice_lane_parked ON sluice_lane (parked, queue, head_precedence, head_at, head_id)`,
    // Claims whose unit has moved on (cancelled, timed out) while their code still runs. They keep their
    // slots.
    // run: the run that the unit is a step of.
    `CREATE TABLE sluice_stopping (epoch BIGINT NOT NULL PRIMARY KEY, id ${name} NOT NULL, lane ${name} NOT NULL, session ${name} NOT NULL, run ${name}, until_at BIGINT, lease_ms BIGINT, claimed_at BIGINT NOT NULL, since BIGINT NOT NULL, because ${name} NOT NULL)${hot}${clustered}`,
    `CREATE INDEX sluice_stopping_run ON sluice_stopping (run)`,
    `CREATE INDEX sluice_stopping_session ON sluice_stopping (session)`,
    // The declarations of each app for a gate. The strictest row becomes sluice_gate.declared. A capacity of
    // NULL declares no limit. The rank is a queue's. The app '' stands for declarations made before apps had
    // names.
    `CREATE TABLE sluice_declared (gate ${name} NOT NULL, app ${name} NOT NULL, capacity BIGINT, line ${name} NOT NULL, lease_ms BIGINT, queue_rank BIGINT, at BIGINT NOT NULL, PRIMARY KEY (gate, app))${cold}${clustered}`,
    // Every declaration an app has ever made, by content. A replaced declaration does not come back by
    // itself. The highest n of an app is the one in force. Declarations lock the row of the app '', one after
    // the other.
    `CREATE TABLE sluice_deploy (app ${name} NOT NULL, hash ${name} NOT NULL, n BIGINT NOT NULL, at BIGINT NOT NULL, body ${text} NOT NULL, PRIMARY KEY (app, hash))${cold}${clustered}`,
    `INSERT INTO sluice_deploy (app, hash, n, at, body) VALUES ('', '', 0, 0, '')`,
    // Limits of an unknown app stay in force until an app that names the gate is deployed.
    `INSERT INTO sluice_declared (gate, app, capacity, line, lease_ms, queue_rank, at) SELECT name, '', declared, line, lease_declared, NULL, 0 FROM sluice_gate WHERE declared IS NOT NULL AND declared <> -1 AND name NOT LIKE 'run:%' AND name NOT LIKE 'queue:%' AND name NOT LIKE 'mutex:%' AND NOT (name = 'runs' AND declared = 10)`,
    `INSERT INTO sluice_declared (gate, app, capacity, line, lease_ms, queue_rank, at) SELECT g.name, '', CASE WHEN g.declared = -1 THEN NULL ELSE g.declared END, g.line, g.lease_declared, CASE WHEN q.queue_rank = 100 THEN NULL ELSE q.queue_rank END, 0 FROM sluice_gate g JOIN sluice_queue q ON g.name = ${queueGate} WHERE COALESCE(g.declared, -1) <> -1 OR q.queue_rank <> 100`,
    // The app that owns the trigger. Only that app changes it and evaluates it. NULL if no app declares it
    // any more.
    `ALTER TABLE sluice_trigger ADD COLUMN app ${name}`,
    // Lanes that a pass could not process, and why. No pass looks at them until an operator restores them.
    `CREATE TABLE sluice_aside (lane ${name} NOT NULL PRIMARY KEY, queue ${name} NOT NULL, task ${name} NOT NULL, asks ${short} NOT NULL, error ${text} NOT NULL, at BIGINT NOT NULL)${cold}${clustered}`,
  ];
}

/** The feed: its listeners, the recorded changes, and the published ones. */
function feed({ name, text, identity, hot, cold, clustered }: Words): string[] {
  const change = `kind ${name} NOT NULL, subject ${name} NOT NULL, n BIGINT, run ${name}, step ${name}, item BIGINT, task ${name}, queue ${name}, at BIGINT NOT NULL, data ${text}`;
  return [
    // One row per interest. NULL in run, task or queue means any. since_pos is where it begins, NULL while it
    // is being opened.
    `CREATE TABLE sluice_listener (id ${name} NOT NULL PRIMARY KEY, topics BIGINT NOT NULL, run ${name}, task ${name}, queue ${name}, since_pos BIGINT, keep_ms BIGINT NOT NULL, until_at BIGINT NOT NULL)${hot}${clustered}`,
    // Recorded in the transaction that makes the change, and deleted when it is published.
    `CREATE TABLE sluice_change_new (seq ${identity}, ${change})${hot}`,
    `CREATE TABLE sluice_change (pos BIGINT NOT NULL PRIMARY KEY, ${change}, told_at BIGINT NOT NULL)${cold}${clustered}`,
    // Row 1: the last position given and the last one swept. A publisher locks it. Row 2 is the door on
    // databases where the door is a row.
    `CREATE TABLE sluice_feed (id INT NOT NULL PRIMARY KEY, last_pos BIGINT NOT NULL, swept_pos BIGINT NOT NULL)${hot}`,
    `INSERT INTO sluice_feed (id, last_pos, swept_pos) VALUES (1, 0, 0), (2, 0, 0)`,
    // 1 if the loss of this session has been reported: its lease had run out.
    `ALTER TABLE sluice_session ADD COLUMN lost SMALLINT NOT NULL DEFAULT 0`,
  ];
}

/** Steps that wait for a time, an event or a person, and the signals of events. */
function waits({ name, text, short, hot, clustered }: Words): string[] {
  return [
    // One row per waiting step, until its run ends. topic is the event it waits for, NULL once it has an answer.
    // match_key stands for the fields and values to match. late_* is the answer when its time is up. signal is
    // the signal it has taken.
    `CREATE TABLE sluice_wait (run ${name} NOT NULL, step ${name} NOT NULL, topic ${name}, match_key ${name}, late_state ${name}, late_body ${text}, state ${name}, body ${text}, signal_id ${name}, at BIGINT NOT NULL, PRIMARY KEY (run, step))${hot}${clustered}`,
    `CREATE INDEX sluice_wait_topic ON sluice_wait (topic, match_key, run, at, step)`,
    // The events that steps have waited for. The row with an empty fields_key is locked: shared by signals,
    // exclusively by steps that begin to wait. Each other row is a list of fields that steps compare.
    `CREATE TABLE sluice_topic (event ${name} NOT NULL, fields_key ${name} NOT NULL, fields ${short} NOT NULL, PRIMARY KEY (event, fields_key))${hot}${clustered}`,
    `CREATE TABLE sluice_signal (id ${name} NOT NULL PRIMARY KEY, event ${name} NOT NULL, idem_key ${name}, payload ${text} NOT NULL, at BIGINT NOT NULL, until_at BIGINT NOT NULL)${hot}${clustered}`,
    `CREATE UNIQUE INDEX sluice_signal_key ON sluice_signal (event, idem_key)`,
    `CREATE INDEX sluice_signal_sent ON sluice_signal (event, at, id)`,
    `CREATE INDEX sluice_signal_old ON sluice_signal (until_at)`,
    // The top-level fields of payloads that steps may compare. field_key stands for a field and its value.
    `CREATE TABLE sluice_signal_field (signal_id ${name} NOT NULL, field_key ${name} NOT NULL, event ${name} NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (signal_id, field_key))${hot}${clustered}`,
    // When a run first started that gave its slots back and went back in line.
    `ALTER TABLE sluice_run ADD COLUMN began_at BIGINT`,
    `CREATE INDEX sluice_signal_field_value ON sluice_signal_field (event, field_key, at, signal_id)`,
  ];
}

/** Runs that are steps of other runs. */
function nested({ name, ofTrees }: Words): string[] {
  return [
    // root: the run at the top of the tree, NULL for a run of its own. parent: the run that hears of its end.
    `ALTER TABLE sluice_run ADD COLUMN root ${name}`,
    `ALTER TABLE sluice_run ADD COLUMN parent ${name}`,
    `ALTER TABLE sluice_run ADD COLUMN depth BIGINT NOT NULL DEFAULT 0`,
    `CREATE INDEX sluice_run_root ON sluice_run (root, id)${ofTrees}`,
    `CREATE INDEX sluice_stopping_unit ON sluice_stopping (id)`,
    // The children of runs in progress come before all other runs. Otherwise runs that cannot start would hide them.
    `INSERT INTO sluice_queue (name, queue_rank) VALUES ('@nested', 0)`,
    `UPDATE sluice_session SET serves = '{"queues":["@runs","@nested"],"tasks":["*"]}' WHERE id = '@runs'`,
  ];
}

/** Namespaces of runs, and the locks that are named by them. */
function locks({ name }: Words): string[] {
  return [`ALTER TABLE sluice_run ADD COLUMN namespace ${name} NOT NULL DEFAULT 'default'`];
}

/** Locks shared with other engines. The locks themselves are in the sync database. */
function shared({ name, cold, hot, clustered }: Words): string[] {
  return [
    // The process that takes the locks of this engine. engine: the name of this store among engines. n: the
    // last intent.
    `CREATE TABLE sluice_leader (name ${name} NOT NULL PRIMARY KEY, engine ${name} NOT NULL, session ${name} NOT NULL, until_at BIGINT NOT NULL, n BIGINT NOT NULL)${cold}${clustered}`,
    `INSERT INTO sluice_leader (name, engine, session, until_at, n) VALUES ('shared', '', '', 0, 0)`,
    // Units that may hold shared locks. A row is written before the first lock is taken, and deleted after the
    // last one was released.
    `CREATE TABLE sluice_intent (unit ${name} NOT NULL PRIMARY KEY, n BIGINT NOT NULL, session ${name} NOT NULL, at BIGINT NOT NULL)${hot}${clustered}`,
  ];
}

/** Tables of earlier versions ignore trailing spaces of a text. */
const comparedByBytes = (): string[] =>
  EARLIER.map((table) => `ALTER TABLE sluice_${table} CONVERT TO CHARACTER SET utf8mb4 ${BY_BYTES}`);

const EARLIER = [
  "gate",
  "queue",
  "lane",
  "arrival",
  "task",
  "waiting",
  "later",
  "deadline",
  "running",
  "outcome",
  "event",
  "session",
  "run",
  "graph",
  "step",
  "news",
  "timer",
  "success",
  "trigger",
] as const;
