/**
 * News: rows that say which runs to look at. They are written together with the change that calls for a look,
 * so none is lost.
 */
import { asksOf } from "../lane.ts";
import { int, text, textOrNull } from "../row.ts";
import type { News } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { forUpdateSkipLocked, oneOf, raw, rows, sql } from "../sql.ts";
import type { Moves, Scope, View } from "../store.ts";

/** Writes each piece of news once, in one order. */
export const insertNews = (news: readonly News[]): Sql => {
  const distinct = new Map(news.map((each) => [JSON.stringify([each.run, each.failed]), each]));
  const sorted = [...distinct]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { run, failed }]) => ({ run, failed }));
  return sql`INSERT INTO sluice_news (run, failed) SELECT r.run, r.failed FROM ${rows("r", { run: "text", failed: "text" }, sorted)}`;
};

/** Separates the news that is written at once from the news that depends on the claims of the pass. */
export function sorted(news: readonly News[]): { atOnce: News[]; unlessFollowed: News[] } {
  return {
    atOnce: news.filter(({ lane }) => lane === undefined),
    unlessFollowed: news.filter(({ lane }) => lane !== undefined),
  };
}

/**
 * Maps a lane to one of its units that this pass claims. It includes only lanes from which no other pass can
 * claim in the meantime, because this pass holds one of their gates exclusively. Such a claim is invisible
 * until the pass commits, so it ends later, and its end brings the news.
 */
export function followers(scope: Scope, view: View, { claim }: Moves): ReadonlyMap<string, string> {
  const alone = new Set(scope.exclusive);
  const lanes = new Set(
    view.lanes.filter(({ asks }) => asksOf(asks).some(({ gate }) => alone.has(gate))).map(({ id }) => id),
  );
  const claimed = new Set(claim.map(({ id }) => id));
  return new Map(
    view.heads.filter(({ id, lane }) => claimed.has(id) && lanes.has(lane)).map(({ id, lane }) => [lane, id]),
  );
}

/** Must come after the claims: a follower that was cancelled in the meantime does not count. */
export const insertNewsUnless = (news: readonly News[], following: ReadonlyMap<string, string>): Sql => {
  const next = new Map(
    news.map(({ run, lane = "" }) => [`${run} ${lane}`, { run, next: following.get(lane) ?? "" }]),
  );
  const list = [...next].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
  return sql`INSERT INTO sluice_news (run, failed) SELECT DISTINCT r.run, NULL FROM ${rows("r", { run: "text", next: "text" }, list)}
    WHERE NOT EXISTS (SELECT 1 FROM sluice_running c WHERE c.id = r.next)`;
};

export const insertNewsOfRuns = (runs: readonly string[]): Sql =>
  insertNews(runs.map((run) => ({ run, failed: null })));

/** For the runs in progress below this one. They are as many as the tree has, in one statement. */
export const insertNewsOfTree = (root: string): Sql =>
  sql`INSERT INTO sluice_news (run, failed) SELECT u.id, NULL FROM sluice_run u JOIN sluice_running c ON c.id = u.id WHERE u.root = ${root} ORDER BY u.id`;

/** For units that did not succeed. Units that belong to no run leave no news. */
export const insertNewsOf = (units: readonly string[]): Sql =>
  sql`INSERT INTO sluice_news (run, failed) SELECT DISTINCT t.run, t.step FROM sluice_task t WHERE t.id ${oneOf(units)} AND t.run IS NOT NULL`;

const BATCH = raw("200");

export interface NewsRow {
  readonly seq: number;
  readonly run: string;
  /** A step with an item that did not succeed. */
  readonly failed: string | null;
}

/** Skips news that another process has locked: that process reads it. */
export const selectNews = (only?: readonly string[]): Sql<NewsRow> =>
  sql`SELECT seq, run, failed FROM sluice_news${only ? sql` WHERE run ${oneOf(only)}` : raw("")} ORDER BY seq LIMIT ${BATCH}${forUpdateSkipLocked}`.as(
    (row) => ({ seq: int(row.seq), run: text(row.run), failed: textOrNull(row.failed) }),
  );

export const selectRunsInTheNews = (): Sql<string> =>
  sql`SELECT DISTINCT n.run FROM (SELECT run FROM sluice_news ORDER BY seq LIMIT ${BATCH}) AS n`.as(
    ({ run }) => text(run),
  );

export const deleteNewsOf = (run: string): Sql => sql`DELETE FROM sluice_news WHERE run = ${run}`;

export const deleteNews = (seqs: readonly number[]): Sql =>
  sql`DELETE FROM sluice_news WHERE seq ${oneOf(seqs)}`;
