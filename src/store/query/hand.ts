/** Verbs of operators: cancel a task, put a finished one back in line, change a limit. */
import type { Flow } from "../flow.ts";
import { commit, flight } from "../flow.ts";
import type { Row } from "../row.ts";
import { flag, idOf, int, intOrNull, text, word } from "../row.ts";
import type { RunState } from "../runs.ts";
import { RUN_QUEUES } from "../runs.ts";
import type { Dialect, Sql } from "../sql.ts";
import { forUpdate, now, oneOf, raw, rows, sql } from "../sql.ts";
import type { FinalState, TaskState } from "../store.ts";
import { insertArrivalsOf } from "./arrival.ts";
import { forgetEmptied } from "./aside.ts";
import { endStoppedBy } from "./end-line.ts";
import type { NewEvent } from "./event.ts";
import { archiveOutcome, insertEvents } from "./event.ts";
import { cancelRun, selectOptions } from "./hand-run.ts";
import { insertNewsOf } from "./news.ts";
import { keepStopping } from "./stopping.ts";
import { tellEnded, tellEvents } from "./tell.ts";

export { changeLimit } from "./change-limit.ts";

type Place = "waiting" | "later" | "running";

/** A unit that has not ended, with its place and its claim, if any. */
interface Unit {
  readonly id: string;
  readonly place: Place;
  readonly attempt: number;
  readonly losses: number;
  readonly n: number;
  readonly claim: Claim | null;
}

interface Claim {
  readonly epoch: number;
  readonly session: string;
  readonly claimedAt: number;
  readonly claimedN: number;
  readonly startedAt: number | null;
  readonly held: boolean;
}

const ROW = raw("id, lane, precedence, at, attempt, losses, good_until, n");

const unitIn =
  (place: Place) =>
  (row: Row): Unit => ({
    id: text(row.id),
    place,
    attempt: int(row.attempt),
    losses: int(row.losses),
    n: int(row.n),
    claim: place === "running" ? claimRow(row) : null,
  });

const claimRow = (row: Row): Claim => ({
  epoch: int(row.epoch),
  session: text(row.session),
  claimedAt: int(row.claimed_at),
  claimedN: int(row.claimed_n),
  startedAt: intOrNull(row.started_at),
  held: flag(row.held),
});

/** The places of a unit, in this order. A row that is found is locked. */
const selectUnit = (id: string): Sql<Unit>[] => [
  sql`SELECT ${ROW} FROM sluice_waiting WHERE id = ${id}${forUpdate}`.as(unitIn("waiting")),
  sql`SELECT ${ROW} FROM sluice_later WHERE id = ${id}${forUpdate}`.as(unitIn("later")),
  sql`SELECT epoch, session, claimed_at, claimed_n, started_at, held, id, lane, precedence, at, attempt, losses, good_until, n FROM sluice_running WHERE id = ${id}${forUpdate}`.as(
    unitIn("running"),
  ),
];

/**
 * Ends the unit wherever it is. A unit can move between two looks, so we look again. Each look locks what it
 * finds, and exactly one of cancel, claim and finish deletes the row.
 */
export function* cancel(id: string, who: string, dialect: Dialect): Flow<{ was: TaskState } | undefined> {
  const run = yield* cancelRun(id, who, dialect);
  if (run) return { was: OF_RUN[run.was] };
  for (let round = 0; round < 5; round += 1) {
    const { units, outcome, options } = yield* flight({
      options: selectOptions(id),
      units: selectUnit(id),
      outcome: sql`SELECT state FROM sluice_outcome WHERE id = ${id}`.as(({ state }) =>
        word<FinalState>(state),
      ),
    });
    const [unit] = units;
    if (unit) {
      const stopped = endStoppedBy(options[0], { dialect, quiet: false });
      yield* commit([endByHand(unit, who), stopped]);
      return { was: stateOf(unit) };
    }
    const [was] = outcome;
    if (was) return { was };
  }
  return undefined;
}

const stateOf = ({ place, claim }: Unit): TaskState =>
  claim && claim.startedAt === null && !claim.held ? "claimed" : place;

function endByHand(unit: Unit, who: string): Sql[] {
  const { id, place } = unit;
  const isHeld = unit.claim?.held === true;
  return [
    ...(isHeld ? [keepStopping(sql`sluice_running r WHERE r.id = ${id}`, "r", "cancelled")] : []),
    sql`DELETE FROM ${raw(`sluice_${place}`)} WHERE id = ${id}`,
    cancelled(unit, who),
    insertNewsOf([id]),
    ...forgetEmptied(id),
    tellEnded([id]),
  ];
}

/** The state of a run in terms of the places of a unit. */
const OF_RUN = {
  queued: "waiting",
  notStarted: "claimed",
  started: "running",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
} as const satisfies Record<RunState, TaskState>;

const OUTCOME = {
  id: "text",
  epoch: "int",
  attempt: "int",
  losses: "int",
  body: "text",
  session: "text",
  claimed_at: "int",
  claimed_n: "int",
  n: "int",
} as const;

function cancelled({ id, attempt, losses, n, claim }: Unit, who: string): Sql {
  const outcome = {
    id,
    epoch: claim?.epoch ?? null,
    attempt,
    losses,
    body: JSON.stringify({ by: who }),
    session: claim?.session ?? null,
    claimed_at: claim?.claimedAt ?? null,
    claimed_n: claim?.claimedN ?? null,
    n: n + 1,
  };
  return sql`INSERT INTO sluice_outcome (id, state, epoch, attempt, losses, body, session, claimed_at, claimed_n, finished_at, n)
    SELECT o.id, 'cancelled', o.epoch, o.attempt, o.losses, o.body, o.session, o.claimed_at, o.claimed_n, ${now}, o.n FROM ${rows("o", OUTCOME, [outcome])}`;
}

/**
 * Starts a second life: attempts and losses start from zero, and the history goes on. Steps and runs are
 * rerun instead.
 */
export function* retry(id: string, who: string): Flow<{ was: TaskState } | undefined> {
  const { outcome, task } = yield* flight({
    outcome: sql`SELECT state, n FROM sluice_outcome WHERE id = ${id}${forUpdate}`.as((row) => ({
      was: word<FinalState>(row.state),
      n: int(row.n),
    })),
    task: sql`SELECT id FROM sluice_task WHERE id = ${id} AND run IS NULL AND NOT queue ${oneOf(RUN_QUEUES)}`.as(
      idOf,
    ),
  });
  const [found] = outcome;
  if (!found || task.length === 0) return undefined;
  const { was } = found;
  const n = found.n + 1;
  const retried: NewEvent = {
    subject: id,
    n,
    kind: "TaskRetried",
    data: JSON.stringify({ by: who, was }),
  };
  yield* commit([
    archiveOutcome(id),
    sql`DELETE FROM sluice_outcome WHERE id = ${id}`,
    // The deadline belonged to the first life.
    sql`DELETE FROM sluice_deadline WHERE id = ${id}`,
    sql`INSERT INTO sluice_waiting (id, lane, precedence, at, attempt, losses, good_until, n)
      SELECT id, lane, -priority, ${now}, 0, 0, NULL, ${n} FROM sluice_task WHERE id = ${id}`,
    insertArrivalsOf([id]),
    insertEvents([retried]),
    tellEvents([retried]),
  ]);
  return { was };
}
