/**
 * Handles batches in which one member cannot be moved. The store finds that member and gets it out of the
 * way, and the others go on. Each step is a transaction of its own.
 */
import { culprits } from "./culprits.ts";
import { isDataError, sayCause } from "./data-error.ts";
import type { Database, Flow } from "./flow.ts";
import { commit, send } from "./flow.ts";
import type { LaneSpec } from "./lane.ts";
import type { HowToAdvance } from "./query/advance.ts";
import { advance } from "./query/advance.ts";
import { arrivedLanes, setAside, takeInOnly } from "./query/aside.ts";
import { failRun } from "./query/hand-run.ts";
import { deleteNewsOf, selectRunsInTheNews } from "./query/news.ts";
import { expireOnly, promoteOnly, putOff, selectDue } from "./query/tend.ts";
import type { Dialect } from "./sql.ts";
import type { Advanced, AsideRow, DecideRuns } from "./store.ts";

/** Rolls back everything that a flow has written. */
class Undone extends Error {}

export async function probe<T>(db: Database, flow: () => Flow<T>): Promise<void> {
  try {
    await db.transact(() => undoing(flow()));
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
}

/** The last flight does not carry the commit, and the flow ends without one. */
function* undoing<T>(flow: Flow<T>): Flow<never> {
  let step = flow.next();
  while (!step.done) step = flow.next(yield { statements: step.value.statements });
  throw new Undone("A probe is undone.");
}

/** Takes arrivals in lane by lane when they cannot be taken in all at once. */
export async function takeInCarefully(db: Database): Promise<AsideRow[]> {
  const lanes = await db.read(() => arrivedLanes());
  const bad = await culprits(lanes, (part) => db.transact(() => takeInOnly(part.map(({ id }) => id))));
  const aside: AsideRow[] = [];
  for (const { one, error } of bad) aside.push(await putAside(db, one, error));
  return aside;
}

async function putAside(db: Database, lane: LaneSpec, error: unknown): Promise<AsideRow> {
  await db.transact(() => setAside(lane, sayCause(error)));
  return { ...lane, error: sayCause(error), at: 0, units: 0 };
}

/**
 * Promotes due units in parts. The lane of a unit that cannot be promoted is set aside, and a deadline that
 * cannot be enforced is put off.
 */
export async function tendCarefully(db: Database, dialect: Dialect): Promise<void> {
  const { due, over } = await db.read(() => selectDue());
  const stuck = await culprits(due, (part) => db.transact(() => promoteOnly(part.map(({ unit }) => unit))));
  for (const { one, error } of stuck) await putAside(db, one.lane, error);
  const late = await culprits(over, (part) => db.transact(() => expireOnly(part, dialect)));
  for (const { one } of late) await db.transact(() => putOff(one));
}

/** Advances run by run. A run that cannot be advanced fails and says why. */
export async function advanceCarefully(
  db: Database,
  decide: DecideRuns,
  how: HowToAdvance,
): Promise<Advanced> {
  const runs = await db.read(() => send(selectRunsInTheNews()));
  let all: Advanced = { news: 0, enqueued: 0, freed: [] };
  const bad = await culprits(runs, async (part) => {
    const { news, enqueued, freed } = await db.transact(() => advance(decide, how, part));
    all = { news: all.news + news, enqueued: all.enqueued + enqueued, freed: [...all.freed, ...freed] };
  });
  for (const { one, error } of bad) await giveUp(db, one, error, how.dialect);
  return { ...all, news: all.news + bad.length };
}

async function giveUp(db: Database, run: string, error: unknown, dialect: Dialect): Promise<void> {
  const message = `The run could not be advanced: ${sayCause(error)}`;
  const body = JSON.stringify({ name: "Error", code: "MALFORMED_RUN", message });
  await db.transact(() => commit(deleteNewsOf(run)));
  await db
    .transact(() => failRun(run, body, dialect))
    .catch((failure: unknown) => {
      // The run cannot even be failed. It stays as it is and does not block others.
      if (!isDataError(failure)) throw failure;
    });
}
