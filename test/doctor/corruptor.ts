// Breaks one invariant at a time by plain SQL, as a defect, a restore or a manual change could.

import type { Remedy } from "../../src/core/remedy.ts";
import type { Store } from "../../src/index.ts";
import { FakeClock } from "../../src/testing/clock.ts";
import { Bench, BILL, BULK, MAIL, newTask } from "../../src/testing/store-suite/bench.ts";

export { BILL, BULK, MAIL };

type Kind = string;
type Sql = string | ((kind: Kind) => string);

export interface Corruption {
  readonly name: string;
  /** Calls to the store before the SQL. */
  readonly first?: (store: Store) => Promise<unknown>;
  readonly sql: readonly Sql[];
  /** The expected finding: check, verdict, how its text begins, and the IDs it names. */
  readonly finds: readonly [check: string, verdict: "warn" | "fail", text: RegExp, ids?: readonly string[]];
  /** The expected remedy; null if there must be none. */
  readonly remedy?: Remedy | null;
}

/** Fills a healthy store with a task in every place a task can be. */
export async function populate(store: Store): Promise<void> {
  const bench = new Bench(store, new FakeClock());
  await bench.session("s1", { leaseMs: 3_600_000 });
  await store.declare({
    queues: [{ name: "mail", rank: 1 }],
    gates: [{ key: "pool:smtp", limit: 9, line: "bypass" }],
  });
  await bench.enqueue(
    "waits",
    newTask("runs", { lane: BULK }),
    newTask("ends", { lane: BILL }),
    newTask("later", { delayMs: 3_600_000 }),
    newTask("good", { lane: BILL, goodForMs: 3_600_000 }),
  );
  await bench.claim(["runs"]);
  await bench.report(await bench.claimOne("ends"), { to: "succeeded", body: "1" });
}

/** Claims "waits" by hand, long after everything else. */
const CLAIM_BY_HAND = [
  `INSERT INTO sluice_running (id, lane, session, held, claimed_at, claimed_n, precedence, at, attempt, losses, n)
   SELECT id, lane, 's1', 1, at + 60000, 2, precedence, at, 1, 0, 2 FROM sluice_waiting WHERE id = 'waits'`,
  "DELETE FROM sluice_waiting WHERE id = 'waits'",
];

const COLUMNS =
  "id, lane, session, held, until_at, lease_ms, claimed_at, claimed_n, started_at, progress, precedence, at, attempt, losses, good_until, n";

/** Drops the constraint that allows only one claim per task. */
const WITHOUT_UNIQUE: readonly Sql[] = [
  (kind) =>
    kind === "postgres"
      ? "ALTER TABLE sluice_running DROP CONSTRAINT sluice_running_pkey"
      : kind === "mysql"
        ? "ALTER TABLE sluice_running DROP INDEX id"
        : "CREATE TABLE copy (epoch INTEGER PRIMARY KEY AUTOINCREMENT, id, lane, session, held, until_at, claimed_at, claimed_n, started_at, progress, precedence, at, attempt, losses, good_until, n, lease_ms)",
  (kind) => (kind === "sqlite" ? "INSERT INTO copy SELECT * FROM sluice_running" : "SELECT 1"),
  (kind) => (kind === "sqlite" ? "DROP TABLE sluice_running" : "SELECT 1"),
  (kind) => (kind === "sqlite" ? "ALTER TABLE copy RENAME TO sluice_running" : "SELECT 1"),
];

const lane = (id: string, set: string): string => `UPDATE sluice_lane SET ${set} WHERE id = '${id}'`;

export const CORRUPTIONS: readonly Corruption[] = [
  {
    name: "a grant above a limit that an operator set before it",
    first: (store) => store.changeLimit({ key: "pool:smtp", to: "value", limit: 3, by: "ann" }),
    sql: CLAIM_BY_HAND,
    finds: [
      "limits",
      "fail",
      /^pool "smtp": 4 of 3 held, and the newest slot was granted at /,
      ["pool:smtp"],
    ],
  },
  {
    name: "a grant above a limit that the app declared before it",
    first: (store) =>
      store.declare({
        queues: [{ name: "mail", rank: 1 }],
        gates: [
          { key: "queue:mail", limit: 1, line: "skip" },
          { key: "pool:smtp", limit: 9, line: "bypass" },
        ],
      }),
    sql: CLAIM_BY_HAND,
    finds: [
      "limits",
      "fail",
      /^queue "mail": 2 of 1 held, .* though this limit came into force at /,
      ["queue:mail"],
    ],
  },
  {
    name: "a limit lowered by plain SQL, which is no defect",
    sql: ["UPDATE sluice_gate SET capacity = 1 WHERE name = 'pool:smtp'"],
    finds: ["limits", "warn", /^pool "smtp": 3 of 1 held, draining: /],
  },
  {
    name: "a waiting task that is gone",
    sql: ["DELETE FROM sluice_waiting WHERE id = 'waits'"],
    finds: ["places", "fail", /^tasks that are in none of /, ["waits"]],
  },
  {
    name: "an outcome that is gone",
    sql: ["DELETE FROM sluice_outcome WHERE id = 'ends'"],
    finds: ["places", "fail", /^tasks that are in none of /, ["ends"]],
  },
  {
    name: "a task that waits and is put off at once",
    sql: [
      "INSERT INTO sluice_later (id, lane, precedence, at, attempt, losses, good_until, n, because) SELECT id, lane, precedence, at, attempt, losses, good_until, n, 'retry' FROM sluice_waiting WHERE id = 'waits'",
    ],
    finds: ["places", "fail", /^tasks that are in two places/, ["waits"]],
  },
  {
    name: "a task that runs and has ended",
    sql: [
      "INSERT INTO sluice_outcome (id, state, epoch, attempt, losses, finished_at, n) SELECT id, 'failed', epoch, 1, 0, at, 9 FROM sluice_running WHERE id = 'runs'",
    ],
    finds: ["places", "fail", /^tasks that are in two places/, ["runs"]],
  },
  {
    name: "a delayed task without its body",
    sql: ["DELETE FROM sluice_task WHERE id = 'later'"],
    finds: ["places", "fail", /^rows whose task is missing/, ["later later"]],
  },
  {
    name: "a deadline of nobody",
    sql: ["INSERT INTO sluice_deadline (id, at) VALUES ('ghost', 9000000000000)"],
    finds: ["places", "fail", /^rows whose task is missing/, ["deadline ghost"]],
  },
  {
    name: "two claims of one task",
    sql: [
      ...WITHOUT_UNIQUE,
      `INSERT INTO sluice_running (${COLUMNS}) SELECT ${COLUMNS} FROM sluice_running WHERE id = 'runs'`,
    ],
    finds: ["claims", "fail", /^tasks with two claims/, ["runs"]],
  },
  {
    name: "a claim whose lane is gone",
    sql: [`DELETE FROM sluice_lane WHERE id = '${BULK.id}'`],
    finds: ["claims", "fail", /^claims whose lane is missing/, ["runs"]],
  },
  {
    name: "the lane of code that stops is gone",
    first: (store) => store.cancel("runs", "ann"),
    sql: [`DELETE FROM sluice_lane WHERE id = '${BULK.id}'`],
    finds: ["claims", "fail", /^claims whose lane is missing/, ["runs"]],
  },
  {
    name: "a run that is over and holds its slots for nothing",
    sql: [
      `INSERT INTO sluice_stopping (epoch, id, lane, session, run, claimed_at, since, because) SELECT epoch, id, '${BILL.id}', '@runs', NULL, 1, 1, 'cancelled' FROM sluice_outcome WHERE id = 'ends'`,
    ],
    finds: ["claims", "fail", /^runs that have ended and still hold their slots/, ["ends"]],
  },
  {
    name: "code that was told to stop long ago",
    first: (store) => store.cancel("runs", "ann"),
    sql: ["UPDATE sluice_stopping SET since = since - 61000"],
    finds: ["stopping", "warn", /^bulk runs on worker worker s1: stopping for 1m.* \(cancelled\)/, ["runs"]],
  },
  {
    name: "an epoch from the future",
    sql: ["UPDATE sluice_outcome SET epoch = 1000000 WHERE id = 'ends'"],
    finds: ["epochs", "fail", /^epochs that have not been handed out yet/, ["ends"]],
  },
  {
    name: "a head behind the first of its lane",
    sql: [lane(MAIL.id, "head_precedence = 5")],
    finds: ["line", "fail", /^lanes whose head is later/, [MAIL.id]],
  },
  {
    name: "an idle lane in which somebody waits",
    sql: [lane(MAIL.id, "state = 0")],
    finds: ["line", "fail", /^waiting tasks that no pass would find/, ["waits"]],
  },
  {
    name: "a lane that is gone while somebody waits in it",
    sql: [`DELETE FROM sluice_lane WHERE id = '${MAIL.id}'`],
    finds: ["line", "fail", /^waiting tasks that no pass would find/, ["waits"]],
  },
  {
    name: "a lane parked on a gate that is not there",
    sql: [lane(MAIL.id, "state = 2, parked = 'pool:gone'")],
    finds: ["line", "fail", /^lanes parked on a gate that does not exist/, [`${MAIL.id} on pool:gone`]],
  },
  {
    name: "a lane parked on a gate that is not there, whose name has spaces",
    sql: [lane(MAIL.id, "state = 2, parked = 'pool:a on b'")],
    finds: ["line", "fail", /^lanes parked on a gate that does not exist/, [`${MAIL.id} on pool:a on b`]],
    remedy: { action: "setLimit", gate: "pool:a on b" },
  },
  {
    name: "a lane parked on no gate at all",
    sql: [lane(MAIL.id, "state = 2, parked = NULL")],
    finds: ["line", "fail", /^lanes parked on a gate that does not exist/, [`${MAIL.id} on no gate`]],
    remedy: null,
  },
  {
    name: "a limit below -1",
    sql: ["UPDATE sluice_gate SET capacity = -7 WHERE name = 'pool:smtp'"],
    finds: ["rows", "fail", /^gates whose limit, pause or line/, ["pool:smtp"]],
  },
  {
    name: "a line that nobody knows",
    sql: ["UPDATE sluice_gate SET line = 'lifo' WHERE name = 'pool:smtp'"],
    finds: ["rows", "fail", /^gates whose limit, pause or line/, ["pool:smtp"]],
  },
  {
    name: "a gate without a name",
    sql: [
      "INSERT INTO sluice_gate (name, capacity, declared, paused, line, n) VALUES ('', 1, 1, 1, 'strict', 0)",
    ],
    finds: ["rows", "fail", /^rows of sluice_gate with a name that no gate can have/, ['""']],
  },
  {
    name: "asks that are no JSON",
    sql: ["UPDATE sluice_task SET asks = '[[\"pool:smtp\"' WHERE id = 'waits'"],
    finds: ["rows", "fail", /^tasks whose asks cannot be read/, ["waits"]],
  },
  {
    name: "a claim that nobody recovers, though a worker has been there for long",
    sql: [
      "UPDATE sluice_running SET session = 'gone', until_at = NULL WHERE id = 'runs'",
      "UPDATE sluice_session SET started_at = started_at - 120000",
    ],
    finds: ["recovery", "fail", /^claims of workers that have been gone for more than 1m/, ["runs"]],
  },
  {
    name: "a claim of a worker that is gone, when the next one has just come",
    sql: ["UPDATE sluice_running SET session = 'gone', until_at = NULL WHERE id = 'runs'"],
    finds: ["recovery", "warn", /^claims of workers that are gone/, ["runs"]],
  },
  {
    name: "a queue that no live worker serves",
    sql: [`UPDATE sluice_session SET serves = '{"queues":["mail","money"],"tasks":["send","bulk"]}'`],
    finds: ["workers", "warn", /^1 waiting: no live worker serves queue "money" and knows task "bill"/],
  },
  {
    name: "a step that waits though its run is over",
    sql: ["INSERT INTO sluice_wait (run, step, topic, at) VALUES ('ends', 'paid', 'paid', 0)"],
    finds: ["waits", "fail", /though their run is not in progress/, ["ends/paid"]],
  },
  {
    name: "a step that waits for a time without a timer",
    sql: ["INSERT INTO sluice_wait (run, step, late_state, at) VALUES ('runs', 'nap', 'succeeded', 0)"],
    finds: ["waits", "fail", /though nothing can end that/, ["runs/nap"]],
  },
  {
    name: "an open step without a unit, items and a wait",
    sql: ["INSERT INTO sluice_step (run, name, state) VALUES ('runs', 'nap', 'open')"],
    finds: ["waits", "fail", /though nothing can end that/, ["runs/nap"]],
  },
  {
    name: "an answer without news of its run",
    sql: [
      "INSERT INTO sluice_step (run, name, state) VALUES ('runs', 'paid', 'open')",
      "INSERT INTO sluice_wait (run, step, state, body, at) VALUES ('runs', 'paid', 'succeeded', '1', 0)",
    ],
    finds: ["waits", "fail", /though nobody looks at their run/, ["runs/paid"]],
  },
];
