/** PostgreSQL, as it must be set for our promises to hold. */
import type { Finding } from "./check.ts";
import type { Judge, Settings } from "./judge.ts";
import { where } from "./judge.ts";

export const postgres: Judge = {
  title: (is) => `PostgreSQL ${is.server_version}`,
  version: (is) =>
    where(
      Number(is.server_version_num) < 140_000,
      `PostgreSQL ${is.server_version} is older than what we are written for`,
      "Upgrade to PostgreSQL 14 or later",
    ),
  durability: (is) => [
    ...where(
      is.fsync === "off",
      "fsync is off: a crash of the machine can lose or corrupt everything that was acknowledged",
      "Set fsync = on in postgresql.conf and reload",
    ),
    ...where(
      is.full_page_writes === "off",
      "full_page_writes is off: a crash in the middle of a write can leave a page that is neither old nor new",
      "Set full_page_writes = on in postgresql.conf and reload",
    ),
    ...where(
      is.synchronous_commit === "off",
      "synchronous_commit is off: what was acknowledged just before a crash is lost",
      "Set it to on for this database or role: ALTER DATABASE … SET synchronous_commit = on",
    ),
    ...where(
      is.synchronous_commit === "local" && Boolean(is.synchronous_standby_names),
      "synchronous_commit is local: what was acknowledged is not on the standby yet, and a failover loses it",
      "Set it to on for this database or role: ALTER DATABASE … SET synchronous_commit = on",
    ),
    ...where(
      is.default_transaction_read_only === "on" && is.standby !== "on",
      "default_transaction_read_only is on: it can be looked at, but nothing can be enqueued or run here",
      "Set it to off for this database or role: ALTER DATABASE … SET default_transaction_read_only = off",
    ),
    ...where(
      is.standby === "on",
      "this is a standby: it can be looked at, but nothing can be enqueued or run here",
      "Connect to the primary",
    ),
  ],
  locks: (is) => [
    ...where(
      is.idle_in_transaction_session_timeout === "0",
      "idle_in_transaction_session_timeout does not reach our connections: a process that freezes inside a pass stops the others until it wakes",
      `Set it for the role: ALTER ROLE … SET idle_in_transaction_session_timeout = '1s'; or ${DROPPED}`,
    ),
    ...where(
      is.lock_timeout === "0",
      "lock_timeout does not reach our connections: a pass waits for a lock for as long as somebody holds it",
      `Set it for the role: ALTER ROLE … SET lock_timeout = '3s'; or ${DROPPED}`,
    ),
    ...where(
      is.transaction_isolation !== undefined && is.transaction_isolation !== "read committed",
      `our transactions run in ${is.transaction_isolation}, not read committed: what is read after waiting for a lock is old, and limits can be exceeded`,
      "See what changes BEGIN ISOLATION LEVEL READ COMMITTED on its way, and connect to the server itself",
    ),
  ],
  cutOff: "who goes silent inside a transaction is cut off after a second",
  speed: {
    found: (is) => [
      ...lost(is, "jit", "off", "statements of a millisecond may be compiled first, for hundreds of them"),
      ...lost(is, "plan_cache_mode", "force_generic_plan", "a pass may be planned anew each time"),
      ...lost(is, "enable_seqscan", "off", "a pass may read over all the dead rows of a table"),
    ],
    well: (is) =>
      is.pooler === "on"
        ? "a pooler stands in between: statements are planned each time, and a wake-up comes with the poll, up to a second late"
        : "statements run by index, from plans that are kept, and are not compiled",
  },
};

/** A setting that our connections come with, or each transaction where we know of a pooler. */
function lost(is: Settings, name: string, wanted: string, means: string): Finding[] {
  return where(
    is[name] !== undefined && is[name] !== wanted,
    `${name} is ${is[name]} inside our transactions, not ${wanted}: ${means}`,
    `Set it for the role: ALTER ROLE … SET ${name} = ${wanted}; or ${DROPPED}`,
  );
}

const DROPPED =
  "see what drops the settings that we connect with; of a pooler in transaction mode say so: openPostgres({ url, pooler: true })";
