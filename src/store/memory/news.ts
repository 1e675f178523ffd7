/** News: runs to look at, written with whatever makes it necessary. */
import type { NewsRecord, Tables } from "./tables.ts";

const BATCH = 200;

/** One row for each of these runs. */
export function leaveNews(tables: Tables, runs: readonly string[]): void {
  for (const run of [...new Set(runs)].sort()) tables.news.insert({ seq: tables.nextSeq(), run });
}

/** Of the runs that these units are steps of; plain tasks leave none. */
export function leaveNewsOf(tables: Tables, units: readonly string[]): void {
  leaveNews(
    tables,
    units.flatMap((id) => tables.task.get(id)?.run ?? []),
  );
}

export function stirring(tables: Tables): { readonly news: boolean; readonly queued: boolean } {
  const queued = tables.waiting.all().some(({ id }) => tables.run.has(id));
  return { news: tables.news.all().length > 0, queued };
}

export const someNews = (tables: Tables): NewsRecord[] => tables.news.all().slice(0, BATCH);
