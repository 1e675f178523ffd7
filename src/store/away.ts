/**
 * Turns driver errors into our own. An unreachable store is reported with its address, whatever the driver
 * calls the error.
 */
import { SluiceError } from "../core/error.ts";
import { asDataError } from "./data-error.ts";
import { codeOf, messageOf, toldBy } from "./driver-error.ts";
import type { Flow } from "./flow.ts";
import { isConnectionLoss } from "./retry.ts";
import type { SqlDatabase } from "./sql-database.ts";

/** Connections that were never established, in addition to lost ones. */
const NO_CONNECTION = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  // PostgreSQL: too many clients
  "53300",
  "ER_CON_COUNT_ERROR",
  "ER_TOO_MANY_USER_CONNECTIONS",
  // SQLite: another process still holds the lock on the file
  "SQLITE_BUSY",
]);

/** Both drivers report a missing connection with errors of their own that have no code. */
const WITHOUT_CODE =
  /timeout exceeded when trying to connect|connection terminated|connection is in closed state/i;

export function isAway(error: unknown): boolean {
  return isConnectionLoss(error) || NO_CONNECTION.has(codeOf(error)) || WITHOUT_CODE.test(messageOf(error));
}

export function unreachable(where: string, error: unknown): SluiceError {
  const { cause, code } = toldBy(error);
  // A driver often says less about a lost connection than its cause does.
  const why = (code === "CONNECTION_LOST" && messageOf(cause)) || messageOf(error) || String(code ?? error);
  return new SluiceError("STORE_UNREACHABLE", `The store ${masked(where)} could not be reached: ${why}`, {
    cause: error,
  });
}

/** Whether a server answered after it had let us in. A refused login or an unknown database is no answer. */
export function isAnswer(error: unknown): boolean {
  const { code, sqlState } = toldBy(error);
  const state = typeof sqlState === "string" ? sqlState : String(code ?? "");
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(state) && !/^(28|3D)/.test(state) && !NOT_LET_IN.has(String(code));
}

const NOT_LET_IN = new Set(["ER_BAD_DB_ERROR", "ER_DBACCESS_DENIED_ERROR"]);

export function refused(where: string, error: unknown): SluiceError {
  return new SluiceError("STORE_REFUSED", `The store ${masked(where)} refused: ${messageOf(error)}`, {
    cause: error,
  });
}

/** A URL that may be shown. It has no password, even if the password was not escaped. */
export function masked(url: string): string {
  const password = URL.canParse(url) ? /(:\/\/[^:/?#@]*):[^/?#]*@/ : /(:\/\/[^:@]*):.*@/;
  return url.replace(password, "$1:***@").replace(/([?&]password=)[^&#]*/gi, "$1***");
}

/**
 * The same database with plain errors: an unreachable store, or data that the store cannot process. A
 * connection lost inside the caller's own transaction is the caller's business.
 */
export function inPlainWords(db: SqlDatabase): SqlDatabase {
  const told = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => {
      throw isAway(error) ? unreachable(db.where, error) : asDataError(error);
    });
  const ofData = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => {
      throw asDataError(error);
    });
  const { vital, within, ground, upkeep } = db;
  return {
    dialect: db.dialect,
    where: db.where,
    migrate: () => told(db.migrate()),
    verify: () => told(db.verify()),
    transact: (flow) => told(db.transact(flow)),
    read: (flow) => told(db.read(flow)),
    listen: (hear) => told(db.listen(hear)),
    hint: (hint) => db.hint(hint),
    close: () => db.close(),
    ...(vital
      ? {
          vital: <T>(flow: () => Flow<T>) =>
            told(vital.call<SqlDatabase, [() => Flow<T>], Promise<T>>(db, flow)),
        }
      : {}),
    ...(within
      ? {
          within: <T>(transaction: unknown, flow: () => Flow<T>) =>
            ofData(within.call<SqlDatabase, [unknown, () => Flow<T>], Promise<T>>(db, transaction, flow)),
        }
      : {}),
    ...(ground ? { ground: ground.bind(db) } : {}),
    ...(upkeep ? { upkeep: upkeep.bind(db) } : {}),
  };
}
