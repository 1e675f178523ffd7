/**
 * Handles a pass that failed because of its data. It finds the reports, claims and lanes to blame, gets each
 * of them out of the way, and says so. Everything else continues with the next pass.
 */
import { SluiceError } from "../../core/error.ts";
import type { Culprit } from "../../store/culprits.ts";
import { culprits } from "../../store/culprits.ts";
import { DataError, isDataError, sayCause } from "../../store/data-error.ts";
import { failureOf } from "../../store/failure-of.ts";
import type { LaneSpec } from "../../store/lane.ts";
import type {
  AsideRow,
  Ended,
  Finished,
  LostRow,
  Moves,
  Passed,
  Scope,
  Store,
  TaskRow,
  View,
} from "../../store/store.ts";
import { withHandler } from "./handler.ts";

/**
 * If this many lanes fail and none succeeds, they are not to blame. The cause is something that they have in
 * common.
 */
const TOO_MANY = 8;

/** If the decision fails, the data it was shown is to blame. */
export function deciding(decide: (view: View) => Moves): (view: View) => Moves {
  return (view) => {
    try {
      return decide(view);
    } catch (error) {
      throw error instanceof SluiceError ? error : new DataError(error);
    }
  };
}

const NOTHING: Moves = { claim: [], claimLeaseMs: 0, start: [], expire: [], recover: [], lanes: [] };

/** A pass that looks at no lane. */
const bare = (scope: Scope): Scope => ({
  ...scope,
  finished: [],
  started: [],
  lanes: [],
  intake: false,
  queues: [],
  parkedOn: [],
  elsewhere: [],
  prefetching: 0,
});

interface Reported {
  /** Reports that the store accepted. */
  readonly accepted: ReadonlySet<string>;
  /** Reports that the store refused. `kept` is false if not even a failure could be stored in their place. */
  readonly spoiled: readonly {
    readonly report: Finished;
    readonly error: DataError;
    readonly kept: boolean;
  }[];
}

/** Reports in parts. A report that cannot be stored is replaced by a failure. */
export async function reportCarefully(store: Store, scope: Scope, newId: () => string): Promise<Reported> {
  const accepted = new Set<string>();
  const pass = async (finished: readonly Finished[]): Promise<Passed> => {
    const passed = await store.pass({ ...bare(scope), finished }, () => NOTHING);
    for (const id of passed.accepted) accepted.add(id);
    return passed;
  };
  const bad = await culprits(scope.finished, pass);
  const spoiled: Reported["spoiled"][number][] = [];
  for (const { one, error } of bad) {
    const unit = await store.task(one.id);
    const instead = unstorable(one, error, unit);
    const told = unit ? withHandler(instead, unit, newId) : instead;
    // What its handler would be told may be the very thing that cannot be stored.
    const kept = (await isTaken(pass, told)) || (await isTaken(pass, instead));
    spoiled.push({ report: one, error, kept });
  }
  return { accepted, spoiled };
}

async function isTaken(
  pass: (finished: readonly Finished[]) => Promise<Passed>,
  report: Finished,
): Promise<boolean> {
  try {
    await pass([report]);
    return true;
  } catch (failure) {
    if (!isDataError(failure)) throw failure;
    return false;
  }
}

/** The task ran, but its result cannot be stored. Another attempt would not change that. */
function unstorable({ id, epoch, news }: Finished, error: DataError, unit: TaskRow | undefined): Ended {
  const message = `Its result or error could not be stored: ${sayCause(error)}`;
  const body = JSON.stringify({ name: "Error", code: "RESULT_NOT_STORED", message });
  return { id, epoch, to: "failed", body, delayMs: 0, news: unit ? failureOf(unit.options) : news };
}

/** Sets aside the lanes that no pass can process, alone or with others. */
export async function setAsideLanes(
  store: Store,
  lanes: readonly LaneSpec[],
  scope: Scope,
  decide: (view: View) => Moves,
): Promise<AsideRow[]> {
  const want = new Map(scope.lanes.map((lane) => [lane.id, lane.want]));
  const attempt = (part: readonly LaneSpec[]): Promise<void> => {
    const shown = part.map(({ id }) => ({ id, want: want.get(id) ?? 2 }));
    return store.probe({ ...bare(scope), lanes: shown, prefetching: scope.prefetching }, decide);
  };
  return putAside(store, lanes, await culprits(lanes, attempt));
}

/** Finds lost claims that cannot be recovered, and sets their lanes aside. */
export async function setAsideLost(
  store: Store,
  scope: Scope,
  decide: (view: View) => Moves,
): Promise<AsideRow[]> {
  let lost: readonly LostRow[] = [];
  let recover: Moves["recover"] = [];
  const look = (view: View): Moves => {
    ({ lost } = view);
    ({ recover } = decide(view));
    return NOTHING;
  };
  await store.probe(bare(scope), look);
  const bad = await culprits(recover, (part) =>
    store.probe(bare(scope), () => ({ ...NOTHING, recover: part })),
  );
  const aside: AsideRow[] = [];
  for (const { one, error } of bad) {
    const lane = lost.find(({ id }) => id === one.id)?.lane;
    const task = await store.task(one.id);
    if (lane === undefined || !task) continue;
    const spec = { id: lane, queue: task.queue, task: task.name, asks: task.asks };
    aside.push(await setAside(store, spec, sayCause(error)));
  }
  return aside;
}

async function putAside(
  store: Store,
  all: readonly LaneSpec[],
  bad: readonly Culprit<LaneSpec>[],
): Promise<AsideRow[]> {
  const [first] = bad;
  if (first && bad.length === all.length && bad.length >= TOO_MANY) throw first.error;
  const aside: AsideRow[] = [];
  for (const { one, error } of bad) aside.push(await setAside(store, one, sayCause(error)));
  return aside;
}

export async function setAside(store: Store, lane: LaneSpec, error: string): Promise<AsideRow> {
  const { id, queue, task, asks } = lane;
  await store.setAside({ id, queue, task, asks }, error);
  return { id, queue, task, asks, error, at: 0, units: 0 };
}

/** For logs: the process that set the lane aside says so, once. */
export const asideNotice = ({ id, task, error }: AsideRow): SluiceError =>
  new SluiceError(
    "SET_ASIDE",
    `Lane ${id} of task "${task}" cannot be processed and was set aside; everything else continues. The error: ${error}.`,
    { details: { lane: id, task, error }, remedies: [{ action: "restoreLane", lane: id }] },
  );
