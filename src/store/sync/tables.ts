/**
 * The four tables. Their columns and keys are a contract with people who read and change them by plain SQL.
 * Columns of our own have defaults, so a plain insert need not name them.
 */
import { SluiceError } from "../../core/error.ts";
import { BY_BYTES } from "../schema.ts";
import type { Sql } from "../sql.ts";
import { by, raw } from "../sql.ts";
import type { SyncTables } from "./port.ts";

export const SYNC_TABLES: SyncTables = {
  limits: "sync_limit",
  controllers: "sync_controller",
  states: "sync_state",
  locks: "sync_lock",
};

/** The four names as they are written into statements. */
export interface TableNames {
  readonly limits: Sql;
  readonly controllers: Sql;
  readonly states: Sql;
  readonly locks: Sql;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}(?:\.[A-Za-z_][A-Za-z0-9_]{0,62})?$/;

/** Whether a table may have this name. It is written into statements as it is. */
const isTableName = (name: string): boolean => NAME.test(name);

export function tableNames(tables: SyncTables): TableNames {
  for (const name of Object.values(tables))
    if (!isTableName(name))
      throw new SluiceError(
        "BAD_OPTIONS",
        `"${name}" cannot be the name of a table of the sync database: write letters, digits and underscores.`,
      );
  return {
    limits: raw(tables.limits),
    controllers: raw(tables.controllers),
    states: raw(tables.states),
    locks: raw(tables.locks),
  };
}

/** Three such columns make a key. MySQL allows 3072 bytes for it, at four bytes a character. */
const MYSQL_NAME = "VARCHAR(255)";
/** With a default of its own, no update changes such a column by itself. */
const MYSQL_TIME = "TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)";
const MYSQL_END = ` ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 ${BY_BYTES}`;
const PG_NAME = 'text COLLATE "C"';
const PG_TIME = "timestamptz NOT NULL DEFAULT clock_timestamp()";

const CREATING = 7_305_402;

export function createTables({ limits, controllers, states, locks }: SyncTables): Sql[] {
  return [
    // Two engines that start together would collide in PostgreSQL's catalog, although each table may be there.
    by({ postgres: `SELECT pg_advisory_xact_lock(${CREATING})`, mysql: "SELECT 1", sqlite: "" }),
    table(limits, (name) => `name ${name} NOT NULL PRIMARY KEY, sizelimit INTEGER NOT NULL`),
    table(
      controllers,
      (name, time) =>
        `controller ${name} NOT NULL PRIMARY KEY, time ${time}, engine ${name} NOT NULL DEFAULT '', instance ${name} NOT NULL DEFAULT ''`,
    ),
    table(
      states,
      (name, time) =>
        `name ${name} NOT NULL, workflowkey ${name} NOT NULL, controller ${name} NOT NULL, held BOOLEAN NOT NULL DEFAULT false, priority BIGINT NOT NULL DEFAULT 0, time ${time}, slots INTEGER NOT NULL DEFAULT 1, intent BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (name, workflowkey, controller)`,
    ),
    table(
      locks,
      (name, time) => `name ${name} NOT NULL PRIMARY KEY, controller ${name} NOT NULL, time ${time}`,
    ),
  ];
}

const table = (of: string, columns: (name: string, time: string) => string): Sql =>
  by({
    postgres: `CREATE TABLE IF NOT EXISTS ${of} (${columns(PG_NAME, PG_TIME)})`,
    mysql: `CREATE TABLE IF NOT EXISTS ${of} (${columns(MYSQL_NAME, MYSQL_TIME)})${MYSQL_END}`,
    sqlite: "",
  });
