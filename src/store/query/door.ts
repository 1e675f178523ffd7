/**
 * The door of the feed. Whoever moves something goes through it, together with everybody else, and stays inside until
 * the commit. Whoever begins to listen waits until all who are inside have left. So nobody who did not see the listener
 * commits after it has begun.
 *
 * It is the first lock of a transaction: a lock taken before it could be wanted by somebody inside, who is waited for.
 * A caller's own transaction takes no lock of ours, and does not go through it.
 */
import type { Flow } from "../flow.ts";
import type { Row } from "../row.ts";
import type { Dialect, Sql } from "../sql.ts";
import { by } from "../sql.ts";
import type { SqlDatabase } from "../sql-database.ts";
import { mayHaveTold } from "./tell.ts";

/** Ours among the advisory locks of a database, and of a schema in it. */
const KEY = "7305402, 'sluice_feed'::regclass::oid::int";

/** What it says of listeners may be as old as the wait for the lock: enough for a hint, and for nothing else. */
const enter: Sql = by({
  // Nothing is cheaper there. Whether something was recorded, the statements that record it say.
  postgres: `SELECT pg_advisory_xact_lock_shared(${KEY}) AS heard`,
  mysql:
    "SELECT (SELECT max(x.topics) FROM sluice_listener x) AS heard FROM sluice_feed WHERE id = 2 LOCK IN SHARE MODE",
  // There is one writer at a time.
  sqlite: "SELECT (SELECT max(x.topics) FROM sluice_listener x) AS heard",
});

const isSomebody = ({ heard }: Row): boolean => heard !== null;

/** Answers when everybody who was inside has left. Held by nobody for longer than a moment. */
export const waitOutside: Sql = by({
  postgres: `SELECT 1 AS one FROM pg_advisory_xact_lock(${KEY})`,
  mysql: "SELECT id FROM sluice_feed WHERE id = 2 FOR UPDATE",
  sqlite: "SELECT 1 AS one",
});

/** The same flow, inside the door. `told` is called when it has recorded something that may be heard. */
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

/** The same database, whose transactions go through the door. After one that has recorded something, others are told. */
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
    transact: (flow) => transact((inner) => db.transact(inner), flow),
    ...(vital
      ? {
          vital: <T>(flow: () => Flow<T>) =>
            transact((inner) => vital.call<SqlDatabase, [() => Flow<T>], Promise<T>>(db, inner), flow),
        }
      : {}),
  };
}
