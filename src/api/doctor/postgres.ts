/** PostgreSQL, as it must be set for our promises to hold. */
import type { Judge } from "./judge.ts";
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
      is.standby === "on",
      "this is a standby: it can be looked at, but nothing can be enqueued or run here",
      "Use the primary with --store",
    ),
  ],
  locks: (is) =>
    where(
      is.idle_in_transaction_session_timeout === "0",
      "idle_in_transaction_session_timeout does not reach our connections: a process that freezes inside a pass stops the others until it wakes",
      "Set it for the role: ALTER ROLE … SET idle_in_transaction_session_timeout = '1s'; or tell the store that a pooler stands in between",
    ),
  cutOff: "who goes silent inside a transaction is cut off after a second",
};
