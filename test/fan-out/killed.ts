// Kills worker processes again and again while they work on lists. Every list ends, and only items in flight
// in a killed process run again. There is one test file per database, so that they run in parallel.

import { expect, onTestFinished, test } from "vitest";
import type { Sluice } from "../../src/index.ts";
import { connect } from "../../src/index.ts";
import type { Aside } from "../conformance/tables.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { randomOf } from "../runs/support/random.ts";
import { isTidy } from "../runs/support/world.ts";
import { openWitness } from "../support/open-witness.ts";
import type { WorkerProcess } from "../support/start-worker.ts";
import { prepareWorker } from "../support/start-worker.ts";
import type { Visit, Witness } from "../support/witness.ts";
import { appNamed } from "../support/worker-apps.ts";
import { afterId, itemId } from "./support/list-app.ts";
import { outcomesOf } from "./support/run-view.ts";

const ITEMS = 20;
const MOST = 3;
const SEED = 5;
/** The number of lists in progress at any time. */
const BESIDE = 2;
/**
 * A third loss quarantines an item, which is another promise. Items with this many losses are not hit again.
 */
const MOST_LOSSES = 2;

export function killWorkers(key: "postgres" | "sqlite", processes: number, kills: number): void {
  describeOn([key], (place) => {
    test(`lists whose ${processes} worker processes are killed ${kills} times come to their end, and only what was in flight runs again`, {
      timeout: 300_000,
      // A machine that stalls for longer than a lease loses items by itself, and a third loss is quarantine.
      retry: 1,
    }, async () => {
      const field = await Field.on(place, processes);
      for (let killed = 0; killed < kills; killed += 1) await field.killOne();
      await field.isWhole();
      expect(field.killed.size).toBe(kills);
      // Kills that hit nothing would prove nothing.
      console.log(`${place.name}: ${field.runs.length} lists, ${field.hits} items hit by ${kills} kills`);
      expect(field.hits).toBeGreaterThan(kills / 4);
    });
  });
}

interface Working {
  readonly process: WorkerProcess;
  readonly session: string;
}

class Field {
  /** Names of the killed processes. */
  readonly killed = new Set<string>();
  /** The number of items that were in flight in them. */
  hits = 0;
  readonly runs: { readonly id: string; readonly name: string }[] = [];
  readonly #sluice: Sluice;
  readonly #witness: Witness;
  readonly #aside: Aside;
  readonly #store: string;
  readonly #random = randomOf(SEED);
  readonly #workers: Working[] = [];
  #spare: Promise<WorkerProcess> | undefined;
  /** Lists that had not ended at the last look. */
  readonly #open = new Set<string>();
  #made = 0;

  private constructor(sluice: Sluice, witness: Witness, aside: Aside, store: string) {
    this.#sluice = sluice;
    this.#witness = witness;
    this.#aside = aside;
    this.#store = store;
  }

  static async on(place: Place, processes: number): Promise<Field> {
    const store = (await place.open()) as string;
    const sluice = await connect({ store, app: appNamed("lossyList"), migrate: true });
    onTestFinished(() => sluice.close());
    const aside = await place.beside(store);
    onTestFinished(() => aside.close());
    const field = new Field(sluice, await openWitness(), aside, store);
    for (let index = 0; index < processes; index += 1) await field.#work(await field.#prepare());
    return field;
  }

  /** Waits until some more items have begun, then kills one of the workers. */
  async killOne(): Promise<void> {
    const some = 1 + Math.floor(this.#random() * 5);
    const since = this.#witness.starts.length;
    await until(
      async () => {
        if (this.#witness.starts.length >= since + some) return true;
        await this.#fill();
        return false;
      },
      "some items begin",
      30_000,
    );
    const victim = await this.#victim();
    if (!victim) return this.killOne();
    this.#spare ??= this.#prepare();
    await victim.process.kill();
    this.killed.add(victim.process.name);
    this.hits += (await this.#heldBy(victim.session)).length;
    this.#workers.splice(this.#workers.indexOf(victim), 1);
    await this.#work(await this.#spare);
    this.#spare = this.#prepare();
  }

  /** Freezes the worker first, so that it claims nothing after the look. */
  async #victim(): Promise<Working | undefined> {
    const place = Math.floor(this.#random() * this.#workers.length);
    const victim = this.#workers[place] as Working;
    victim.process.freeze();
    const held = await this.#heldBy(victim.session);
    if (held.every(({ losses }) => losses < MOST_LOSSES)) return victim;
    victim.process.thaw();
    return undefined;
  }

  async #heldBy(session: string): Promise<{ readonly losses: number }[]> {
    const rows = await this.#aside.query(`SELECT losses FROM sluice_running WHERE session = '${session}'`);
    return rows.map(({ losses }) => ({ losses: Number(losses) }));
  }

  async #fill(): Promise<void> {
    for (const id of this.#open)
      if ((await this.#sluice.runs.get(id))?.finishedAt !== null) this.#open.delete(id);
    while (this.#open.size < BESIDE) {
      const name = `list${this.runs.length}`;
      const items = Array.from({ length: ITEMS }, (_, index) => index);
      const { id } = await this.#sluice.submit("list", {
        name,
        items,
        most: MOST,
        hold: false,
        ms: 20,
      } as never);
      this.runs.push({ name, id });
      this.#open.add(id);
    }
  }

  async #prepare(): Promise<WorkerProcess> {
    this.#made += 1;
    return prepareWorker({
      app: "lossyList",
      store: this.#store,
      name: `w${this.#made}`,
      slots: 4,
      poll: "200ms",
      witnessPort: this.#witness.port,
    });
  }

  async #work(process: WorkerProcess): Promise<void> {
    this.#workers.push({ process, session: await process.go() });
  }

  async isWhole(): Promise<void> {
    await this.#spare;
    for (const run of this.runs) await this.#isWholeRun(run);
    // Claims of a dead process keep their slots until the lease ends, so not every list reaches a full
    // window.
    const peaks = this.runs.map(({ name }) => this.#witness.peak(`pool:${name}`));
    expect(Math.max(...peaks)).toBe(MOST);
    for (const { process } of this.#workers) expect(await process.stop()).toBe("code 0");
    await isTidy(this.#sluice);
  }

  async #isWholeRun({ id, name }: Field["runs"][number]): Promise<void> {
    expect(await this.#sluice.runs.ended(id), name).toMatchObject({ state: "succeeded", result: ITEMS });
    const outcomes = await outcomesOf(this.#sluice, id, "items");
    const units = await this.#sluice.runs.items(id, "items");
    expect(units.map(({ index }) => index)).toEqual(outcomes.map((_, index) => index));
    const first: number[] = [];
    for (const { index, unit } of units) {
      const visits = this.#witness.startsOf(itemId(name, index));
      // The accepted attempt is one that the witness saw, and all others died with their process.
      this.#ranAgain(visits, outcomes[index]?.result as number, `${name}/${index}`);
      const claims = (await this.#sluice.events(unit)).filter(({ kind }) => kind === "TaskClaimed");
      first.push((JSON.parse(claims[0]?.data ?? "{}") as { epoch: number }).epoch);
    }
    // Despite all kills, no item was claimed for the first time before the items ahead of it.
    expect([...first].sort((a, b) => a - b)).toEqual(first);
    const [step] = ((await this.#sluice.runs.get(id))?.steps ?? []).filter((each) => each.name === "after");
    const accepted = (await this.#sluice.store.task(step?.unit as string))?.epoch as number;
    this.#ranAgain(this.#witness.startsOf(afterId(name)), accepted, afterId(name));
  }

  #ranAgain(visits: readonly Visit[], accepted: number, tell: string): void {
    expect(
      visits.filter(({ epoch }) => epoch === accepted),
      tell,
    ).toHaveLength(1);
    const others = visits.filter(({ epoch }) => epoch !== accepted).map(({ worker }) => worker);
    expect(
      others.filter((worker) => !this.killed.has(worker)),
      tell,
    ).toEqual([]);
  }
}
