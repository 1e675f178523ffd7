/** News: rows that say which runs to look at. Written together with whatever makes a look necessary, so none is lost. */
import type { Sql } from "../sql.ts";
import { forUpdateSkipLocked, oneOf, raw, rows, sql } from "../sql.ts";

export const insertNews = (runs: readonly string[]): Sql =>
  sql`INSERT INTO sluice_news (run) SELECT r.run FROM ${rows(
    "r",
    { run: "text" },
    [...new Set(runs)].sort().map((run) => ({ run })),
  )}`;

/** For units of which it is not known here whether they belong to a run. */
export const insertNewsOf = (units: readonly string[]): Sql =>
  sql`INSERT INTO sluice_news (run) SELECT DISTINCT t.run FROM sluice_task t WHERE t.id ${oneOf(units)} AND t.run IS NOT NULL`;

const BATCH = raw("200");

/** What another process has in hand is its to read. */
export const selectNews = (): Sql =>
  sql`SELECT seq, run FROM sluice_news ORDER BY seq LIMIT ${BATCH}${forUpdateSkipLocked}`;

export const deleteNews = (seqs: readonly number[]): Sql =>
  sql`DELETE FROM sluice_news WHERE seq ${oneOf(seqs)}`;
