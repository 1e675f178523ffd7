/** The version, the settings and the file system that SQLite needs for our promises to hold. */
import type { Judge } from "./judge.ts";
import { isOlder, where } from "./judge.ts";

export const sqlite: Judge = {
  title: (is) => `SQLite ${is.version}`,
  version: (is) =>
    where(
      isOlder(is.version ?? "", "3.51.3"),
      isOlder(is.version ?? "", "3.38")
        ? `SQLite ${is.version} is too old (3.38 or later is needed)`
        : `SQLite ${is.version} can corrupt a file that several processes write to (fixed in 3.51.3)`,
      "Install the version of @photostructure/sqlite that this package requires",
    ),
  durability: (is) => [
    ...where(
      is.synchronous !== undefined && Number(is.synchronous) < 2,
      `synchronous is ${is.synchronous}, not FULL: commits acknowledged just before a power failure are lost`,
      "Open it with Sluice, which sets synchronous = FULL",
    ),
    ...where(
      is.filesystem !== undefined,
      `the file is on a network file system (${is.filesystem}), whose locks SQLite cannot trust`,
      "Move it to a local disk, or use PostgreSQL for more than one machine",
    ),
  ],
  locks: (is) =>
    where(
      is.journal_mode !== undefined && is.journal_mode !== "wal",
      `journal_mode is ${is.journal_mode}, not wal: readers block the writer`,
      "Move the file to a local disk where write-ahead logging works, and open it again",
    ),
  cutOff: "readers and the one writer do not wait for each other",
};
