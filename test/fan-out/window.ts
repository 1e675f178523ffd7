// The window of a list, with several worker processes, as an observer outside the store sees it. There is one
// test file per database, so that they run in parallel.

import { expect, test } from "vitest";
import type { Sluice } from "../../src/index.ts";
import { connect } from "../../src/index.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { isTidy } from "../runs/support/world.ts";
import { openWitness } from "../support/open-witness.ts";
import { prepareWorkers } from "../support/start-worker.ts";
import type { Witness } from "../support/witness.ts";
import { appNamed } from "../support/worker-apps.ts";
import { afterId, itemId } from "./support/list-app.ts";
import { outcomesOf } from "./support/run-view.ts";

interface Size {
  readonly processes: number;
  readonly many: number;
}

const NAMES = ["a", "b", "c", "d"];
const SMALL = { items: 20, most: 3 };
const MOST = 100;

export function watchWindow(key: "postgres" | "mariadb" | "sqlite", { processes, many }: Size): void {
  describeOn([key], (place) => {
    test(`with ${processes} worker processes, ${SMALL.items} items fill a window of ${SMALL.most} again after every completion, and ${many} a window of ${MOST}`, {
      timeout: 150_000,
    }, async () => {
      const witness = await openWitness();
      const { sluice, stop } = await workersOn(place, witness, processes);
      await steps(sluice, witness);
      await crowd(sluice, witness, many);
      await stop();
      await isTidy(sluice);
      await sluice.close();
    });
  });
}

async function workersOn(place: Place, witness: Witness, processes: number) {
  const store = (await place.open()) as string;
  const sluice = await connect({ store, app: appNamed("list"), migrate: true });
  const order = { app: "list", store, slots: 60, poll: "1s", witnessPort: witness.port } as const;
  const workers = await prepareWorkers(NAMES.slice(0, processes), order);
  await Promise.all(workers.map((worker) => worker.go()));
  const stop = async (): Promise<void> => {
    const ended = await Promise.all(workers.map((worker) => worker.stop()));
    expect(ended).toEqual(workers.map(() => "code 0"));
    const errors = workers.flatMap(({ events }) => events.filter((event) => !isExpected(event)));
    expect(errors).toEqual([]);
  };
  return { sluice, stop };
}

/**
 * On a machine that stalls for a second, the server ends transactions that went silent. Workers survive that, and what
 * they did is judged by the witness.
 */
const isExpected = ({ event, text }: { readonly event: string; readonly text?: string }): boolean =>
  event === "refused" || (event === "error" && /connection .*lost/i.test(text ?? ""));

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Lets one item go after the other. The window is full again each time, until nothing is left to fill it. */
async function steps(sluice: Sluice, witness: Witness): Promise<void> {
  const { items, most } = SMALL;
  const given = { name: "small", items: upTo(items), most, hold: true, ms: 0 };
  const { id } = await sluice.submit("list", given as never);
  for (let done = 0; done < items; done += 1) {
    const inside = upTo(items)
      .slice(done, done + most)
      .map((index) => itemId("small", index));
    const isFull = (seen: Witness): boolean =>
      sameAs(
        seen.inside.map(({ id: name }) => name),
        inside,
      );
    await witness.until(isFull, `${inside} are inside`);
    witness.letGo(itemId("small", done));
  }
  await isWhole(sluice, witness, { id, name: "small", items, most });
}

/** The window is full at the beginning and again in the middle. All other items take no time. */
async function crowd(sluice: Sluice, witness: Witness, items: number): Promise<void> {
  const given = { name: "crowd", items: upTo(items), most: MOST, hold: true, ms: 0 };
  const { id } = await sluice.submit("list", given as never);
  const middle = items / 2;
  for (const from of [0, middle]) {
    const isFull = (seen: Witness): boolean =>
      seen.sum("pool:crowd") === MOST && seen.inside.every((visit) => indexOf(visit.id) >= from);
    await witness.until(isFull, `${MOST} from ${from} on are inside`, 100_000);
    expect(witness.inside.map((visit) => indexOf(visit.id)).sort((a, b) => a - b)).toEqual(
      upTo(from + MOST).slice(from),
    );
    if (from === 0) for (const index of upTo(middle)) witness.letGo(itemId("crowd", index));
  }
  witness.letGo();
  await isWhole(sluice, witness, { id, name: "crowd", items, most: MOST });
}

const sameAs = (names: readonly string[], expected: readonly string[]): boolean =>
  [...names].sort().join() === [...expected].sort().join();

const indexOf = (id: string): number => Number(id.slice(id.indexOf("/") + 1));

interface Whole {
  readonly id: string;
  readonly name: string;
  readonly items: number;
  readonly most: number;
}

/** Checks that each item ran once and in order, within the window, and that the next step ran once. */
async function isWhole(sluice: Sluice, witness: Witness, { id, name, items, most }: Whole): Promise<void> {
  expect(await sluice.runs.ended(id)).toMatchObject({ state: "succeeded", result: items });
  expect(witness.peak(`pool:${name}`)).toBe(most);
  const visits = witness.starts.filter((visit) => visit.queue === "items" && visit.id.startsWith(`${name}/`));
  // Epochs are assigned under the lock of the window, so a lower epoch was claimed first.
  const claimed = [...visits].sort((a, b) => a.epoch - b.epoch).map((visit) => indexOf(visit.id));
  expect(claimed).toEqual(upTo(items));
  const epochs = new Map(visits.map((visit) => [indexOf(visit.id), visit.epoch]));
  expect(await outcomesOf(sluice, id, "items")).toEqual(
    upTo(items).map((index) => ({ state: "succeeded", result: epochs.get(index) })),
  );
  expect(witness.startsOf(afterId(name))).toHaveLength(1);
}
