/** News: runs to look at, written with whatever makes it necessary. */
import type { News } from "../runs.ts";
import type { NewsRecord, Tables } from "./tables.ts";

const BATCH = 200;

/** One row for each of these; told twice, it is still one. */
export function leaveNews(tables: Tables, news: readonly News[]): void {
  const distinct = new Map(news.map((one) => [JSON.stringify([one.run, one.failed]), one]));
  for (const { run, failed } of [...distinct.values()].sort(inOrder))
    tables.news.insert({ seq: tables.nextSeq(), run, failed });
}

/** By run; what is news of the whole run comes before news of its steps, none of which has an empty name. */
const inOrder = (a: News, b: News): number =>
  compare(a.run, b.run) || compare(a.failed ?? "", b.failed ?? "");

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const ofRun = (run: string): News => ({ run, failed: null });

/** Of the runs that these units were steps of, and did not succeed; plain tasks leave none. */
export function leaveNewsOf(tables: Tables, units: readonly string[]): void {
  leaveNews(
    tables,
    units.flatMap((id): News[] => {
      const { run = null, step = null } = tables.task.get(id) ?? {};
      return run === null ? [] : [{ run, failed: step }];
    }),
  );
}

export function stirring(tables: Tables): { readonly news: boolean; readonly queued: boolean } {
  const queued = tables.waiting.all().some(({ id }) => tables.run.has(id));
  return { news: tables.news.all().length > 0, queued };
}

export const someNews = (tables: Tables): NewsRecord[] => tables.news.all().slice(0, BATCH);
