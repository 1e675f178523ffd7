/** News: rows that say which runs to look at. Written together with whatever makes a look necessary, so none is lost. */
import type { News } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { forUpdateSkipLocked, oneOf, raw, rows, sql } from "../sql.ts";

/** Each once, in one order. */
export const insertNews = (news: readonly News[]): Sql => {
  const distinct = new Map(news.map((each) => [JSON.stringify([each.run, each.failed]), each]));
  const sorted = [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
  return sql`INSERT INTO sluice_news (run, failed) SELECT r.run, r.failed FROM ${rows("r", { run: "text", failed: "text" }, sorted as never)}`;
};

export const insertNewsOfRuns = (runs: readonly string[]): Sql =>
  insertNews(runs.map((run) => ({ run, failed: null })));

/** Units that did not succeed, and of which it is not known here whether they belong to a run. */
export const insertNewsOf = (units: readonly string[]): Sql =>
  sql`INSERT INTO sluice_news (run, failed) SELECT DISTINCT t.run, t.step FROM sluice_task t WHERE t.id ${oneOf(units)} AND t.run IS NOT NULL`;

const BATCH = raw("200");

/** What another process has in hand is its to read. */
export const selectNews = (): Sql =>
  sql`SELECT seq, run, failed FROM sluice_news ORDER BY seq LIMIT ${BATCH}${forUpdateSkipLocked}`;

export const deleteNews = (seqs: readonly number[]): Sql =>
  sql`DELETE FROM sluice_news WHERE seq ${oneOf(seqs)}`;
