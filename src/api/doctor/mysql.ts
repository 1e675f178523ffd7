/** The settings that MySQL and MariaDB need for our promises to hold. */
import type { Judge, StoreSettings } from "./judge.ts";
import { isOlder, where } from "./judge.ts";

export const mysql: Judge = {
  title: (is) => (isMariadb(is) ? `MariaDB ${plain(is)}` : `MySQL ${plain(is)}`),
  version: (is) =>
    isMariadb(is)
      ? where(
          isOlder(plain(is), "10.6"),
          `MariaDB ${plain(is)} does not support SKIP LOCKED`,
          "Upgrade to MariaDB 10.6 or later",
        )
      : where(
          isOlder(plain(is), "8.0.1"),
          `MySQL ${plain(is)} does not support SKIP LOCKED`,
          "Upgrade to MySQL 8.0.1 or later",
        ),
  durability: (is) => [
    ...where(
      is.innodb_flush_log_at_trx_commit !== undefined && is.innodb_flush_log_at_trx_commit !== "1",
      `innodb_flush_log_at_trx_commit is ${is.innodb_flush_log_at_trx_commit}: commits acknowledged in the last second before a crash are lost`,
      "Set innodb_flush_log_at_trx_commit = 1",
    ),
    ...where(
      is.innodb_doublewrite === "OFF",
      "innodb_doublewrite is off: a crash in the middle of a write can leave a half-written page",
      "Set innodb_doublewrite = ON",
    ),
    ...where(
      is.log_bin === "ON" && is.sync_binlog !== "1",
      `sync_binlog is ${is.sync_binlog} while the binary log is on: after a crash, replicas may lack acknowledged commits`,
      "Set sync_binlog = 1",
    ),
    ...where(
      is.engines !== undefined,
      `tables that are not in InnoDB, so they have no transactions: ${is.engines}`,
      "Stop the workers and convert each: ALTER TABLE … ENGINE = InnoDB",
    ),
    ...where(
      is.sql_mode !== undefined && !/STRICT_(TRANS|ALL)_TABLES/.test(is.sql_mode),
      `sql_mode is "${is.sql_mode}" on our connections: a value that does not fit is silently truncated`,
      REACH_US,
    ),
    ...where(
      is.autocommit === "OFF",
      "autocommit is off on our connections: what is written outside a transaction is not kept",
      REACH_US,
    ),
    ...where(
      is.read_only === "ON",
      "this server is read-only: you can look at it, but nothing can be enqueued or run here",
      "Connect to the primary",
    ),
  ],
  locks: (is) => [
    ...where(
      isolationOf(is) !== undefined && isolationOf(is) !== "READ-COMMITTED",
      `our transactions run in ${isolationOf(is)}, not READ-COMMITTED: a read after waiting for a lock returns old data, and limits can be exceeded`,
      REACH_US,
    ),
    ...where(
      Number(is.innodb_lock_wait_timeout ?? 3) > 10,
      `innodb_lock_wait_timeout is ${is.innodb_lock_wait_timeout} s on our connections: a pass waits that long for a lock before it starts over`,
      REACH_US,
    ),
    ...where(
      is.idle_transaction_timeout === undefined || is.idle_transaction_timeout === "0",
      is.idle_transaction_timeout === undefined
        ? "MySQL has no idle_transaction_timeout: a process that freezes inside a pass blocks the others until it wakes"
        : "idle_transaction_timeout does not reach our connections: a process that freezes inside a pass blocks the others until it wakes",
      "Use MariaDB, which has it, or make sure that frozen processes are killed",
    ),
  ],
  cutOff: "a process that goes silent inside a transaction is cut off after a second",
  values: {
    found: (is) =>
      where(
        Number(is.max_allowed_packet ?? SMALLEST_PACKET) < SMALLEST_PACKET,
        `max_allowed_packet is ${inMegabytes(Number(is.max_allowed_packet))}: a task whose input or result does not fit in is refused, or fails`,
        "Set max_allowed_packet = 16M or more on the server, then restart the workers",
      ),
    well: (is) => `an input or a result may have ${inMegabytes(Number(is.max_allowed_packet))}`,
  },
};

/** The default of MariaDB. The default of MySQL is larger. */
const SMALLEST_PACKET = 16 * 1024 * 1024;
const inMegabytes = (bytes: number): string => `${+(bytes / 1024 / 1024).toFixed(1)} MB`;

const isolationOf = (is: StoreSettings): string | undefined => is.transaction_isolation ?? is.tx_isolation;
const REACH_US =
  "Sluice sets it when it connects: find out what resets it on the way (a proxy that shares connections), and connect to the server directly";
const isMariadb = (is: StoreSettings): boolean => /mariadb/i.test(is.version ?? "");
const plain = (is: StoreSettings): string => /^[\d.]+/.exec(is.version ?? "")?.[0] ?? "of an unknown version";
