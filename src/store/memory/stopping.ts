/**
 * Claims whose unit has moved on while their code still runs. They keep their slots until the code has ended.
 */
import { RUNS } from "../runs.ts";
import type { Stopping, StoppingRow } from "../store.ts";
import type { HeldRecord } from "./claim.ts";
import { isLost } from "./look.ts";
import { leaveNews, ofRun } from "./news.ts";
import type { RunningRecord, StoppingRecord, Tables } from "./tables.ts";

const AT_ONCE = 200;

/**
 * Keeps the slots of a claim that ends. A claim without its slots holds nothing, and one whose lease had
 * expired stays lost.
 */
export function keepStopping(
  tables: Tables,
  now: number,
  claim: RunningRecord,
  because: Stopping["because"],
): void {
  if (!claim.held) return;
  const { epoch, id, lane, session, leaseMs, claimedAt, untilAt } = claim;
  const lapsed = untilAt !== null && untilAt <= now;
  const until = lapsed ? untilAt : leaseMs === null ? null : now + leaseMs;
  const run = tables.task.get(id)?.run ?? null;
  tables.stopping.insert({
    epoch,
    id,
    lane,
    session,
    run,
    untilAt: until,
    leaseMs,
    claimedAt,
    since: now,
    because,
  });
}

export const isStillStopping = (tables: Tables, run: string): boolean =>
  tables.stopping.all().some((row) => row.run === run);

/** The code of these claims has ended. Their runs get news in any case, even if no row is found here. */
export function release(tables: Tables, claims: readonly HeldRecord[]): void {
  for (const { epoch } of claims) tables.stopping.delete(epoch);
  leaveNews(
    tables,
    claims.flatMap(({ id }) => {
      const run = tables.task.get(id)?.run ?? null;
      return run === null ? [] : [ofRun(run)];
    }),
  );
}

/**
 * Frees the slots of a run that is over, once its last unit has stopped. Returns whether it still held them.
 */
export function releaseRun(tables: Tables, run: string): boolean {
  const own = tables.stopping.all().find(({ id, session }) => id === run && session === RUNS);
  if (own) tables.stopping.delete(own.epoch);
  return own !== undefined;
}

/** Claims whose lease has expired. */
export const lapsed = (tables: Tables, now: number): StoppingRecord[] =>
  tables.stopping
    .all()
    .filter((row) => isLost(tables, now, row))
    .slice(0, AT_ONCE);

export function stopping(tables: Tables, of?: string): StoppingRow[] {
  const found = tables.stopping.all().filter(({ session }) => of === undefined || session === of);
  return found.slice(0, AT_ONCE).flatMap(({ epoch, id, session, since, because }): StoppingRow[] => {
    const task = tables.task.get(id);
    if (!task) return [];
    const { name, run, step, item, asks } = task;
    const worker = tables.session.get(session)?.name ?? null;
    return [{ epoch, id, name, run, step, item, asks, session, worker, since, because }];
  });
}

type Holding = Pick<
  StoppingRecord,
  "epoch" | "id" | "lane" | "session" | "claimedAt" | "leaseMs" | "untilAt"
> & {
  readonly stopping?: Stopping;
};

/** Everything that holds slots, in the order of the claims. */
export function holding(tables: Tables): Holding[] {
  const held: Holding[] = tables.running.all().filter((claim) => claim.held);
  const kept = tables.stopping.all().map(({ since, because, ...claim }): Holding => {
    return { ...claim, stopping: { since, because } };
  });
  return [...held, ...kept].sort((a, b) => a.epoch - b.epoch);
}
