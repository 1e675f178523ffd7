/** The settings that PostgreSQL needs for our promises to hold. */
import type { Finding } from "./check.ts";
import type { Judge, StoreSettings } from "./judge.ts";
import { where } from "./judge.ts";

export const postgres: Judge = {
  title: (is) => `PostgreSQL ${is.server_version}`,
  version: (is) =>
    where(
      Number(is.server_version_num) < 140_000,
      `PostgreSQL ${is.server_version} is older than Sluice supports`,
      "Upgrade to PostgreSQL 14 or later",
    ),
  durability: (is) => [
    ...where(
      is.server_encoding !== undefined && !STORES_ANY_TEXT.has(is.server_encoding),
      `the database has the encoding ${is.server_encoding}: an input with other characters is refused, and a result or an error with other characters is not stored`,
      "Move to a database that was created with ENCODING 'UTF8'",
    ),
    ...where(
      is.fsync === "off",
      "fsync is off: a crash of the machine can lose or corrupt everything that was acknowledged",
      "Set fsync = on in postgresql.conf and reload",
    ),
    ...where(
      is.full_page_writes === "off",
      "full_page_writes is off: a crash in the middle of a write can leave a half-written page",
      "Set full_page_writes = on in postgresql.conf and reload",
    ),
    ...where(
      is.synchronous_commit === "off",
      "synchronous_commit is off: commits acknowledged just before a crash are lost",
      "Set it to on for this database or role: ALTER DATABASE … SET synchronous_commit = on",
    ),
    ...where(
      is.synchronous_commit === "local" && Boolean(is.synchronous_standby_names),
      "synchronous_commit is local: an acknowledged commit may not be on the standby yet, and a failover loses it",
      "Set it to on for this database or role: ALTER DATABASE … SET synchronous_commit = on",
    ),
    ...where(
      is.default_transaction_read_only === "on" && is.standby !== "on",
      "default_transaction_read_only is on: you can look at it, but nothing can be enqueued or run here",
      "Set it to off for the role or the database: ALTER ROLE … SET default_transaction_read_only = off; or ALTER DATABASE … SET default_transaction_read_only = off",
    ),
    ...where(
      is.standby === "on",
      "this is a standby: you can look at it, but nothing can be enqueued or run here",
      "Connect to the primary",
    ),
  ],
  locks: (is) => [
    ...where(
      is.idle_in_transaction_session_timeout === "0",
      "idle_in_transaction_session_timeout does not reach our connections: a process that freezes inside a pass blocks the others until it wakes",
      `Set it for the role: ALTER ROLE … SET idle_in_transaction_session_timeout = '1s'; or ${DROPPED}`,
    ),
    ...where(
      is.lock_timeout === "0",
      "lock_timeout does not reach our connections: a pass waits for a lock for as long as it is held",
      `Set it for the role: ALTER ROLE … SET lock_timeout = '3s'; or ${DROPPED}`,
    ),
    ...where(
      is.transaction_isolation !== undefined && is.transaction_isolation !== "read committed",
      `our transactions run in ${is.transaction_isolation}, not read committed: a read after waiting for a lock returns old data, and limits can be exceeded`,
      "Find out what changes BEGIN ISOLATION LEVEL READ COMMITTED on the way, and connect to the server directly",
    ),
  ],
  cutOff: "a process that goes silent inside a transaction is cut off after a second",
  speed: {
    found: (is) => [
      ...lost(
        is,
        "jit",
        "off",
        "a statement of one millisecond may first be compiled for hundreds of milliseconds",
      ),
      ...lost(is, "plan_cache_mode", "force_generic_plan", "every pass may be planned again"),
      ...lost(is, "enable_seqscan", "off", "a pass may scan all the dead rows of a table"),
    ],
    well: (is) =>
      is.pooler === "on"
        ? "a pooler is in between: statements are planned each time, and workers wake up by polling, up to a second late"
        : "statements use indexes and cached plans, and are not compiled",
  },
};

/** SQL_ASCII stores the bytes that it is given, and we give it UTF-8. */
const STORES_ANY_TEXT: ReadonlySet<string> = new Set(["UTF8", "SQL_ASCII"]);

/** A setting of ours that is not in force. We set it per connection, or per transaction if we know of a pooler. */
function lost(is: StoreSettings, name: string, wanted: string, means: string): Finding[] {
  return where(
    is[name] !== undefined && is[name] !== wanted,
    `${name} is ${is[name]} inside our transactions, not ${wanted}: ${means}`,
    `Set it for the role: ALTER ROLE … SET ${name} = ${wanted}; or ${DROPPED}`,
  );
}

const DROPPED =
  "find out what drops the settings that Sluice connects with; for a pooler in transaction mode, use openPostgres({ url, pooler: true })";
