/** Times of the sync database: stored as time-stamps, which people read, and compared in milliseconds. */
import type { Sql } from "../../sql.ts";
import { by, now, sql } from "../../sql.ts";

/** A column as milliseconds. */
export const msOf = (column: string): Sql =>
  by({
    postgres: `(extract(epoch FROM ${column}) * 1000)::bigint`,
    mysql: `CAST(ROUND(UNIX_TIMESTAMP(${column}) * 1000) AS SIGNED)`,
    sqlite: column,
  });

/** Milliseconds as a time-stamp. */
export const stampOf = (ms: Sql): Sql =>
  by({
    postgres: sql`to_timestamp((${ms})::numeric / 1000)`,
    mysql: sql`FROM_UNIXTIME((${ms}) / 1000)`,
    sqlite: ms,
  });

export const stampNow: Sql = stampOf(now);
