/** News: runs to look at, written with whatever makes it necessary. */
import { asksOf } from "../lane.ts";
import type { News } from "../runs.ts";
import type { Moves, Scope, View } from "../store.ts";
import type { NewsRecord, Tables } from "./tables.ts";

const BATCH = 200;

/** One row for each of these; told twice, it is still one. */
export function leaveNews(tables: Tables, news: readonly News[]): void {
  const distinct = new Map(news.map((one) => [JSON.stringify([one.run, one.failed]), one]));
  for (const { run, failed } of [...distinct.values()].sort(inOrder))
    tables.news.insert({ seq: tables.nextSeq(), run, failed });
}

/** What can be told only when it is known what the pass claims. */
export function sorted(news: readonly News[]): { atOnce: News[]; unlessFollowed: News[] } {
  const [atOnce, unlessFollowed]: [News[], News[]] = [[], []];
  for (const one of news) (one.lane === undefined ? atOnce : unlessFollowed).push(one);
  return { atOnce, unlessFollowed };
}

/** By lane, a unit that the pass claims there while it has one of the lane's gates for itself. */
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
