/** News: runs to look at. A row of news is written in the transaction that makes the look necessary. */
import { asksOf } from "../lane.ts";
import type { News } from "../runs.ts";
import type { Moves, Scope, View } from "../store.ts";
import type { NewsRecord, Tables } from "./tables.ts";

const BATCH = 200;

/** Writes one row for each distinct piece of news. */
export function leaveNews(tables: Tables, news: readonly News[]): void {
  const distinct = new Map(news.map((one) => [JSON.stringify([one.run, one.failed]), one]));
  for (const { run, failed } of [...distinct.values()].sort(inOrder))
    tables.news.insert({ seq: tables.nextSeq(), run, failed });
}

/** Separates the news that depends on what the pass claims. */
export function sorted(news: readonly News[]): { atOnce: News[]; unlessFollowed: News[] } {
  const [atOnce, unlessFollowed]: [News[], News[]] = [[], []];
  for (const one of news) (one.lane === undefined ? atOnce : unlessFollowed).push(one);
  return { atOnce, unlessFollowed };
}

/**
 * Maps a lane to one of its units that the pass claims. It includes only lanes with a gate that the pass has
 * locked exclusively.
 */
export function followers(scope: Scope, view: View, moves: Moves): Map<string, string> {
  const alone = view.lanes.filter(({ asks }) =>
    asksOf(asks).some(({ gate }) => scope.exclusive.includes(gate)),
  );
  const laneOf = new Map(view.heads.map(({ id, lane }) => [id, lane]));
  return new Map(
    moves.claim.flatMap(({ id }) => {
      const lane = laneOf.get(id);
      return lane !== undefined && alone.some((each) => each.id === lane) ? [[lane, id] as const] : [];
    }),
  );
}

/** Sorted by run. News of the whole run comes before news of its steps, as no step has an empty name. */
const inOrder = (a: News, b: News): number =>
  compare(a.run, b.run) || compare(a.failed ?? "", b.failed ?? "");

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const ofRun = (run: string): News => ({ run, failed: null });

/** Leaves news of the runs whose steps these units were and which did not succeed. Plain tasks leave none. */
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
