/**
 * One round of a controller. The order of the writes is what makes it safe: an intent in the store before a
 * lock in the sync database, the lock before the gate of its unit opens, and back in the opposite order. So
 * whatever a crash leaves behind, the intent says whose it is.
 */
import type { SharedRow } from "../../core/shared/line.ts";
import { decideShared, sharedId } from "../../core/shared/line.ts";
import type { SharedLock } from "../../core/shared/lock.ts";
import type { Intent, Store } from "../../store/store.ts";
import type { Speaker, SyncDatabase } from "../../store/sync/port.ts";
import { isReady, localLine, together, wanting } from "./local-line.ts";
import type { Sharer } from "./sharers.ts";
import { idsOf, intentsOf, sharersOf } from "./sharers.ts";

interface RoundContext {
  readonly store: Store;
  readonly sync: SyncDatabase;
  readonly speaker: Speaker;
  /** The clock of the sync database, minus that of the store. */
  readonly offsetMs: number;
  /** The rows of this controller may be other than the last round left them. */
  readonly unsure: boolean;
  /** Ends the run of a unit whose locks were released by hand. */
  readonly abort: (unit: string) => Promise<void>;
  /** Called with the gates of units that now may be admitted. */
  readonly opened: (units: readonly string[]) => void;
}

/** `idle`: no unit needs a shared lock. `replaced`: another process speaks for this controller. `inactive`: it has to be heard first. */
export type RoundEnd = "idle" | "done" | "replaced" | "inactive";

export async function round(context: RoundContext): Promise<RoundEnd> {
  const { store, sync, speaker } = context;
  // The units first: a lock that the store expects was taken before it was looked for.
  const units = await store.sharing();
  if (units.length === 0 && !context.unsure) return "idle";
  const rows = await sync.own(speaker);
  if (!rows) return "replaced";
  const sharers = sharersOf(units, rows);
  await abortReleased(context, sharers);
  const freed = await giveBack(context, await toGiveBack(context, sharers));
  await forgetGone(context, sharers);
  // A unit that had to give its locks back stands in line again at once, in its old place.
  const waiting = sharers.filter(
    ({ unit, place, intent }) => place === "waiting" && (intent === null || freed.has(unit)),
  );
  const standing = rows.filter(({ held }) => !held);
  return standAndTake(context, waiting, standing);
}

/** A held row that is missing was deleted by a person. */
async function abortReleased({ abort }: RoundContext, sharers: readonly Sharer[]): Promise<void> {
  for (const { unit, place, open, intent, holds } of sharers)
    if (place === "claimed" && open && intent !== null && !holds) await abort(unit);
}

/**
 * Units with an intent that should not have one. The intent of a process that died before the unit was
 * admitted, and a unit that holds its locks but waits for something else.
 */
async function toGiveBack({ store, speaker }: RoundContext, sharers: readonly Sharer[]): Promise<Sharer[]> {
  const found: Sharer[] = [];
  for (const sharer of sharers) {
    const { unit, place, intent, session, open, holds } = sharer;
    if (intent === null || place === "claimed") continue;
    const isAbandoned = session !== speaker.instance || place !== "waiting" || !open || !holds;
    if (isAbandoned || !(await isReady(store, unit))) found.push(sharer);
  }
  return found;
}

/** Closes the gates first, so that no pass admits a unit whose locks are being released. */
async function giveBack(
  { store, sync, speaker }: RoundContext,
  sharers: readonly Sharer[],
): Promise<Set<string>> {
  if (sharers.length === 0) return new Set();
  const closed = new Set(await store.closeShared(speaker.instance, intentsOf(sharers)));
  const free = sharers.filter(({ unit }) => closed.has(unit));
  const intents = intentsOf(free);
  if (intents.length === 0) return new Set();
  await sync.release(
    speaker.controller,
    intents.map(({ unit, n }) => ({ key: unit, intent: n })),
  );
  await store.forgetShared(speaker.instance, intents, []);
  return new Set(idsOf(free));
}

async function forgetGone({ store, speaker }: RoundContext, sharers: readonly Sharer[]): Promise<void> {
  const gone = idsOf(sharers.filter(({ place }) => place === "gone"));
  if (gone.length > 0) await store.forgetShared(speaker.instance, [], gone);
}

/** Units that this engine would admit stand in the shared lines, and no others. */
async function standAndTake(
  context: RoundContext,
  waiting: readonly Sharer[],
  standing: readonly SharedRow[],
): Promise<RoundEnd> {
  const { store, sync, speaker, offsetMs } = context;
  const line = waiting.length > 0 ? await localLine(store) : undefined;
  const wanted = line ? wanting(line, idsOf(waiting)) : new Set<string>();
  const entering = waiting.filter(({ unit }) => wanted.has(unit));
  const leaving = [...new Set(standing.map(({ key }) => key))].filter((unit) => !wanted.has(unit));
  if (leaving.length > 0 && !(await sync.leave(speaker, leaving))) return "replaced";
  if (!line || entering.length === 0) return "done";
  const places = new Set(standing.map(placeOf));
  const isNew = ({ unit, priority, locks }: Sharer): boolean =>
    locks.some(({ name }) => !places.has(placeOf({ name, key: unit, priority })));
  const entries = entering.filter(isNew).map(({ unit, priority, createdAt, locks }) => ({
    key: unit,
    priority,
    at: createdAt + offsetMs,
    locks,
  }));
  if (entries.length > 0 && !(await sync.enter(speaker, entries))) return "replaced";
  const view = await sync.look([...new Set(entering.flatMap(({ locks }) => locks.map(({ name }) => name)))]);
  const first = new Set(decideShared(view).admitted.map(({ id }) => id));
  const free = idsOf(entering).filter((key) => first.has(idOf(speaker.controller, key)));
  const ready: string[] = [];
  const unready: string[] = [];
  for (const unit of together(line, free)) ((await isReady(store, unit)) ? ready : unready).push(unit);
  // At the front of a line, a unit that its engine would not admit would hold everybody back.
  if (unready.length > 0 && !(await sync.leave(speaker, unready))) return "replaced";
  const locks = new Map(entering.map((sharer) => [sharer.unit, sharer.locks]));
  return ready.length > 0 ? takeAll(context, ready, locks) : "done";
}

/** A row that is in line already needs no write, unless the priority of its unit was changed. */
const placeOf = ({ name, key, priority }: Pick<SharedRow, "name" | "key" | "priority">): string =>
  `${name}\0${key}\0${priority}`;

const idOf = (controller: string, key: string): string => sharedId({ key, controller });

async function takeAll(
  { store, sync, speaker, opened }: RoundContext,
  units: readonly string[],
  locks: ReadonlyMap<string, readonly SharedLock[]>,
): Promise<RoundEnd> {
  const intents = await store.intend(speaker.instance, units);
  if (intents.length === 0) return "replaced";
  const wanted = intents.map(({ unit, n }) => ({
    key: unit,
    intent: n,
    locks: (locks.get(unit) ?? []).map(({ name }) => name),
  }));
  const taken = await sync.take(
    speaker,
    wanted,
    (view) => new Set(decideShared(view).admitted.map(({ id }) => id)),
  );
  if (taken.kind !== "taken") return taken.kind;
  const isTaken = ({ unit }: Intent): boolean => taken.keys.includes(unit);
  const admitted = await store.openShared(speaker.instance, intents.filter(isTaken));
  if (admitted.length > 0) opened(admitted);
  const missed = intents.filter((intent) => !isTaken(intent));
  if (missed.length > 0) await store.forgetShared(speaker.instance, missed, []);
  return "done";
}
