/**
 * Turns driver errors into our own. An unreachable store is reported with its address, whatever the driver
 * calls the error. A store that answered is never called unreachable, unless its answer was to come back later.
 */
import { SluiceError } from "../core/error.ts";
import { asDataError } from "./data-error.ts";
import { codeOf, messageOf, sqliteResult, toldBy } from "./driver-error.ts";
import type { Flow } from "./flow.ts";
import { Lifetime } from "./lifetime.ts";
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
  const code = codeOf(error);
  return (
    isConnectionLoss(error) ||
    NO_CONNECTION.has(code) ||
    isConnectionException(error) ||
    WITHOUT_CODE.test(messageOf(error))
  );
}

/**
 * PostgreSQL's class 08. A pooler that cannot reach its server reports a protocol violation that ends the
 * connection. The server reports one for a single statement.
 */
function isConnectionException(error: unknown): boolean {
  const { severity } = toldBy(error);
  const code = codeOf(error);
  return /^08[0-9A-Z]{3}$/.test(code) && !(code === "08P01" && severity === "ERROR");
}

export function unreachable(where: string, error: unknown): SluiceError {
  const { cause, code } = toldBy(error);
  // A driver often says less about a lost connection than its cause does.
  const why = (code === "CONNECTION_LOST" && messageOf(cause)) || messageOf(error) || String(code ?? error);
  return new SluiceError("STORE_UNREACHABLE", `The store ${masked(where)} could not be reached: ${why}`, {
    cause: error,
  });
}

/** Whether a server answered, even if only to refuse the login. Waiting does not change its answer. */
export function isAnswer(error: unknown): boolean {
  if (isAway(error)) return false;
  const state = sqlStateOf(error);
  if (/^(?=.*\d)[0-9A-Z]{5}$/.test(state)) return !state.startsWith("08");
  return /^ER_/.test(codeOf(error)) || isLoginRefused(error) || isUnusableFile(error);
}

/** SQLite's result codes: permission, read-only, damaged, cannot be opened, not a database. The file was there, and said no. */
const UNUSABLE = new Set([3, 8, 11, 14, 23, 26]);

const isUnusableFile = (error: unknown): boolean => UNUSABLE.has(sqliteResult(error) ?? 0);

/** The server knows no such user or database, or does not let this user in. */
function isLoginRefused(error: unknown): boolean {
  const code = codeOf(error);
  return /^(28|3D)[0-9A-Z]{3}$/.test(sqlStateOf(error)) || NOT_LET_IN.has(code) || isUnagreed(error, code);
}

/** MySQL and MariaDB. They send some of these without an SQLSTATE, or with one that says less. */
const NOT_LET_IN = new Set([
  "ER_ACCESS_DENIED_ERROR",
  "ER_BAD_DB_ERROR",
  "ER_DBACCESS_DENIED_ERROR",
  "ER_HOST_IS_BLOCKED",
  "ER_HOST_NOT_PRIVILEGED",
  "ER_ACCOUNT_HAS_BEEN_LOCKED",
  "ER_MUST_CHANGE_PASSWORD_LOGIN",
]);

/** The user was let in, but lacks a right on one of our tables. */
const isForbidden = (error: unknown): boolean =>
  sqlStateOf(error) === "42501" ||
  /^ER_(TABLE|COLUMN|SPECIFIC_|PROC)ACCESS_DENIED_ERROR$/.test(codeOf(error));

/** The server asked for a password or for encryption that one side does not have. The driver says so, not the server. */
const UNAGREED = new Set(["AUTH_SWITCH_PLUGIN_ERROR", "HANDSHAKE_NO_SSL_SUPPORT"]);
const isUnagreed = (error: unknown, code: string): boolean =>
  UNAGREED.has(code) || (code === "" && /^SASL: |^The server does not support SSL/.test(messageOf(error)));

function sqlStateOf(error: unknown): string {
  const { code, sqlState } = toldBy(error);
  return typeof sqlState === "string" && sqlState !== "" ? sqlState : String(code ?? "");
}

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

function plainly(where: string, error: unknown): unknown {
  if (error instanceof SluiceError) return error;
  if (isAway(error)) return unreachable(where, error);
  return isLoginRefused(error) || isForbidden(error) ? refused(where, error) : error;
}

/**
 * The same database with plain errors: an unreachable store, a refused login, data that the store cannot process, or a store
 * that was closed. A connection lost inside the caller's own transaction is left to the caller.
 */
export function inPlainWords(db: SqlDatabase): SqlDatabase {
  const life = new Lifetime();
  const ofData = <T>(ask: () => Promise<T>): Promise<T> =>
    life.during(() =>
      ask().catch((error: unknown) => {
        throw asDataError(error);
      }),
    );
  const told = <T>(ask: () => Promise<T>): Promise<T> =>
    ofData(ask).catch((error: unknown) => {
      throw plainly(db.where, error);
    });
  const { vital, within, ground, upkeep } = db;
  return {
    dialect: db.dialect,
    where: db.where,
    migrate: () => told(() => db.migrate()),
    verify: () => told(() => db.verify()),
    transact: (flow, isFirst) => told(() => db.transact(flow, isFirst)),
    read: (flow) => told(() => db.read(flow)),
    listen: (hear) => told(() => db.listen(hear)),
    hint: (hint) => {
      if (!life.isOver) db.hint(hint);
    },
    close: () => life.close(() => db.close()),
    ...(vital
      ? {
          vital: <T>(flow: () => Flow<T>) =>
            told(() => vital.call<SqlDatabase, [() => Flow<T>], Promise<T>>(db, flow)),
        }
      : {}),
    ...(within
      ? {
          within: <T>(transaction: unknown, flow: () => Flow<T>) =>
            ofData(() =>
              within.call<SqlDatabase, [unknown, () => Flow<T>], Promise<T>>(db, transaction, flow),
            ),
        }
      : {}),
    ...(ground ? { ground: ground.bind(db) } : {}),
    ...(upkeep ? { upkeep: upkeep.bind(db) } : {}),
  };
}
