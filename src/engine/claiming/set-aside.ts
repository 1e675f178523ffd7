/**
 * When a pass cannot be made because of what is in it: finds the reports, claims and lanes that are to blame, gets each
 * of them out of the way, and says so. Everything else goes on with the next pass.
 */
import { SluiceError } from "../../core/error.ts";
import type { Culprit } from "../../store/culprits.ts";
import { culprits } from "../../store/culprits.ts";
import { DataError, isDataError, sayCause } from "../../store/data-error.ts";
import type { LaneSpec } from "../../store/lane.ts";
import type { AsideRow, Finished, LostRow, Moves, Passed, Scope, Store, View } from "../../store/store.ts";

/** So many, and all of them to blame: then it is something else that they have in common. */
const TOO_MANY = 8;

/** A decision that fails is about what it was shown. */
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
  prefetching: 0,
});

interface Reported {
  /** Reports that were taken. */
  readonly accepted: ReadonlySet<string>;
  /** Those that the store would not keep, by what they were replaced with; null where nothing could be said at all. */
  readonly spoiled: readonly {
    readonly report: Finished;
    readonly error: DataError;
    readonly kept: boolean;
  }[];
}

/** In parts; of what cannot be kept it is kept that it failed. */
export async function reportCarefully(store: Store, scope: Scope): Promise<Reported> {
  const accepted = new Set<string>();
  const pass = async (finished: readonly Finished[]): Promise<Passed> => {
    const passed = await store.pass({ ...bare(scope), finished }, () => NOTHING);
    for (const id of passed.accepted) accepted.add(id);
    return passed;
  };
  const bad = await culprits(scope.finished, pass);
  const spoiled: Reported["spoiled"][number][] = [];
  for (const { one, error } of bad) {
    const kept = await pass([unstorable(one, error)]).then(
      () => true,
      (failure: unknown) => {
        if (!isDataError(failure)) throw failure;
        return false;
      },
    );
    spoiled.push({ report: one, error, kept });
  }
  return { accepted, spoiled };
}

/** It ran, and what came of it cannot be kept: no other attempt would change that. */
function unstorable({ id, epoch, news }: Finished, error: DataError): Finished {
  const message = `Its result or error could not be stored: ${sayCause(error)}`;
  const body = JSON.stringify({ name: "Error", code: "RESULT_NOT_STORED", message });
  return { id, epoch, to: "failed", body, delayMs: 0, news };
}

/** Lanes that no pass can process, alone or with others, set aside. */
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

/** Claims of lost holders that cannot be recovered: their lanes are set aside. */
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

/** For logs: said once, by whoever did it. */
export const asideNotice = ({ id, task, error }: AsideRow): SluiceError =>
  new SluiceError(
    "SET_ASIDE",
    `Lane ${id} of task "${task}" cannot be processed and was set aside; everything else continues. The error: ${error}.`,
    { details: { lane: id, task, error }, remedies: [{ action: "restoreLane", lane: id }] },
  );
