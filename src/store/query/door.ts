/**
 * The door of the feed. Every writing transaction of ours takes this lock in shared mode and holds it until
 * its commit. A new listener waits until all transactions inside have left. So every transaction that commits
 * after the listener has begun has seen the listener.
 *
 * The door is the first lock of a transaction. A lock taken before it could cause a deadlock: a transaction
 * inside, which the listener waits for, could want that lock. A caller's own transaction takes no lock of
 * ours and does not go through the door.
 */
import type { Flow } from "../flow.ts";
import type { Row } from "../row.ts";
import type { Dialect, Sql } from "../sql.ts";
import { by } from "../sql.ts";
import type { SqlDatabase } from "../sql-database.ts";
import { mayHaveTold } from "./tell.ts";

/** Our number among the advisory locks of the database, and a number of the schema. */
const KEY = "7305402, 'sluice_feed'::regclass::oid::int";

/**
 * Its answer about listeners may date from before the wait for the lock. That is enough for a hint, but for
 * nothing else.
 */
const enter: Sql = by({
  // This is the cheapest way in PostgreSQL. The recording statements themselves say whether they recorded
  // anything.
  postgres: `SELECT pg_advisory_xact_lock_shared(${KEY}) AS heard`,
  mysql:
    "SELECT (SELECT max(x.topics) FROM sluice_listener x) AS heard FROM sluice_feed WHERE id = 2 LOCK IN SHARE MODE",
  // SQLite has one writer at a time, so it needs no lock.
  sqlite: "SELECT (SELECT max(x.topics) FROM sluice_listener x) AS heard",
});

const isSomebody = ({ heard }: Row): boolean => heard !== null;

/** Returns when every transaction that was inside has left. The lock is held only for a moment. */
export const waitOutside: Sql = by({
  postgres: `SELECT 1 AS one FROM pg_advisory_xact_lock(${KEY})`,
  mysql: "SELECT id FROM sluice_feed WHERE id = 2 FOR UPDATE",
  sqlite: "SELECT 1 AS one",
});

/**
 * The same flow inside the door. Calls `told` when the flow has recorded something that a listener may want.
 */
function* inside<T>(flow: Flow<T>, dialect: Dialect, told: () => void): Flow<T> {
  let step = flow.next();
  let isHeard: boolean | undefined;
  while (!step.done) {
    const { statements, ...rest } = step.value;
    const isFirst = isHeard === undefined;
    const answers = yield { statements: isFirst ? [enter, ...statements] : statements, ...rest };
    isHeard ??= answers[0]?.some(isSomebody) ?? false;
    const own = isFirst ? answers.slice(1) : answers;
    if (isHeard && statements.some((each, index) => mayHaveTold(each, own[index] ?? [], dialect))) told();
    step = flow.next(own);
  }
  return step.value;
}

/**
 * The same database with all transactions going through the door. A transaction that has recorded something
 * is followed by a hint.
 */
export function throughDoor(db: SqlDatabase): SqlDatabase {
  const transact = async <T>(run: (flow: () => Flow<T>) => Promise<T>, flow: () => Flow<T>): Promise<T> => {
    let isTold = false;
    const done = await run(() => {
      isTold = false;
      return inside(flow(), db.dialect, () => {
        isTold = true;
      });
    });
    if (isTold) db.hint("feed");
    return done;
  };
  const { vital } = db;
  return {
    ...db,
    transact: (flow, isFirst) => transact((inner) => db.transact(inner, isFirst), flow),
    ...(vital
      ? {
          vital: <T>(flow: () => Flow<T>) =>
            transact((inner) => vital.call<SqlDatabase, [() => Flow<T>], Promise<T>>(db, inner), flow),
        }
      : {}),
  };
}
