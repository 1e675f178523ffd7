/**
 * The door of the feed. A writing transaction of ours is inside the door from the moment it asks for listeners,
 * at the latest, until its commit. A new listener waits until all transactions inside have left. So every
 * transaction that commits after the listener has begun has seen the listener.
 *
 * On PostgreSQL, the question for listeners itself is the door: a transaction keeps the lock of a table that it
 * has read (`MARK`). A new listener looks for such locks and takes none, so nobody waits for it. A caller's own
 * transaction may stay open for long, so it says who it is (`CALLER`), and no listener waits for it.
 *
 * On MySQL, the door is a row that each transaction locks first, in shared mode. A lock taken before it could
 * cause a deadlock: a transaction inside, which the listener waits for, could want that lock.
 *
 * SQLite has one writer at a time, so it needs no door.
 */
import type { Flow } from "../flow.ts";
import { lastFlight } from "../flow.ts";
import type { Row } from "../row.ts";
import { textOrNull } from "../row.ts";
import type { Dialect, Sql } from "../sql.ts";
import { by, sql } from "../sql.ts";
import type { SqlDatabase } from "../sql-database.ts";
import { mayHaveTold } from "./tell.ts";

/** Our number among the advisory locks of the database. */
const OURS = 7305402;

/** Taken by a caller's own transaction on PostgreSQL, before anything else. */
export const CALLER = `SELECT pg_advisory_xact_lock_shared(${OURS}, 'sluice_feed'::regclass::oid::int)`;

/**
 * The answer about listeners may date from before the wait for the lock. That is enough for a hint, but for
 * nothing else.
 */
const enter: Sql = sql`SELECT (SELECT max(x.topics) FROM sluice_listener x) AS heard FROM sluice_feed WHERE id = 2 LOCK IN SHARE MODE`;

const isSomebody = ({ heard }: Row): boolean => heard !== null;

const LOCKS = `l.locktype = 'relation' AND l.mode = 'RowShareLock' AND l.granted AND l.relation = 'sluice_listener'::regclass
  AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) AND l.pid <> pg_backend_pid()`;

const selectInside = by({
  postgres: `SELECT DISTINCT l.virtualtransaction AS inside FROM pg_locks l WHERE ${LOCKS} AND NOT EXISTS
    (SELECT 1 FROM pg_locks c WHERE c.virtualtransaction = l.virtualtransaction AND c.locktype = 'advisory' AND c.classid = ${OURS} AND c.objid = 'sluice_feed'::regclass)`,
  // Answers once everybody has left.
  mysql: "SELECT NULL AS inside FROM sluice_feed WHERE id = 2 FOR UPDATE",
  sqlite: "SELECT NULL AS inside",
}).as(({ inside }) => textOrNull(inside));

/** The transactions that are inside at this moment. */
export function* inside(): Flow<ReadonlySet<string>> {
  const { found } = yield* lastFlight({ found: selectInside });
  return new Set(found.flatMap((one) => one ?? []));
}

/**
 * The same flow through the door. Calls `told` when the flow has recorded something that a listener may want.
 */
function* through<T>(flow: Flow<T>, dialect: Dialect, told: () => void): Flow<T> {
  let step = flow.next();
  // Elsewhere the recording statements themselves say whether they recorded anything.
  let isHeard: boolean | undefined = dialect === "mysql" ? undefined : true;
  while (!step.done) {
    const { statements, ...rest } = step.value;
    const isFirst: boolean = isHeard === undefined;
    const answers: Row[][] = yield { statements: isFirst ? [enter, ...statements] : statements, ...rest };
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
      return through(flow(), db.dialect, () => {
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
