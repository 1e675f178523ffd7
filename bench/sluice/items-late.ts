// The cost of handing over one item of a long list, near its beginning and near its end: the pass that ends
// one item and claims the next, and the look at the run that follows. Both are measured on the same list, and
// nothing is cleaned up in between.
import { asChild } from "../child.ts";
import { settle } from "../database.ts";
import { median, now, until } from "../measure.ts";
import { advancing, claiming, connect } from "./built.ts";
import { listApp } from "./items-app.ts";

export interface Late {
  url: string;
  count: number;
  /** How many items are measured, after the first ten and before the last ten. */
  measured: number;
}

export interface Handed {
  passMs: number;
  lookMs: number;
}

const ENDS = 10;
const AT_ONCE = 500;

type Sluice = Awaited<ReturnType<typeof connect>>;
type Claims = InstanceType<Awaited<ReturnType<typeof claiming>>>;

class Line {
  readonly #sluice: Sluice;
  readonly #run: string;
  readonly #claims: Claims;
  readonly #look: () => Promise<unknown>;
  #held: { id: string; epoch: number }[] = [];
  #hinted = true;

  constructor(sluice: Sluice, run: string, claims: Claims, look: () => Promise<unknown>) {
    this.#sluice = sluice;
    this.#run = run;
    this.#claims = claims;
    this.#look = look;
  }

  static async open(sluice: Sluice, run: string): Promise<Line> {
    const [StoreClaims, advanceRuns] = await Promise.all([claiming(), advancing()]);
    const seat = { name: "bench", slots: AT_ONCE, prefetch: 0, claimLeaseMs: 60_000 };
    const claims = new StoreClaims(sluice.store, { ...seat, queues: ["items"], tasks: ["item"] });
    await claims.open(`bench ${run}`, 600_000);
    const settings = { newId: () => "", claimTimeoutMs: 60_000 };
    const look = () => sluice.store.advance((runs, results) => advanceRuns(runs, results, settings));
    const line = new Line(sluice, run, claims, look);
    await line.#first();
    return line;
  }

  /** Hands items over one by one: the pass that ends one and starts the next, then the look at the run. */
  async handOver(measured: number): Promise<Handed> {
    const passes: number[] = [];
    const looks: number[] = [];
    for (let n = 0; n < ENDS + measured; n += 1) {
      const began = now();
      const claimed = await this.#pass(1);
      const passed = now();
      await this.#look();
      if (claimed !== 1) throw new Error(`${claimed} items were claimed, not one`);
      if (n < ENDS) continue;
      passes.push(passed - began);
      looks.push(now() - passed);
    }
    return { passMs: median(passes), lookMs: median(looks) };
  }

  /** Completes many items quickly, with a wide-open window. */
  async skip(count: number): Promise<void> {
    const window = `run:${this.#run}/items/each`;
    await this.#sluice.limits.set(window, AT_ONCE);
    for (let left = count; left > 0; ) left -= await this.#pass(Math.min(AT_ONCE, left));
    await this.#sluice.limits.set(window, 1);
    await this.#first();
  }

  /** The first passes discover the lanes. */
  async #first(): Promise<void> {
    while ((await this.#pass(1)) === 0);
    await this.#look();
  }

  async #pass(appetite: number): Promise<number> {
    const finished = this.#held.map(({ id, epoch }) => ({
      id,
      epoch,
      to: "succeeded" as const,
      body: "null",
      delayMs: 0,
      // No lane here, so that there is a look each time, as after an item that failed.
      news: { run: this.#run, failed: null },
    }));
    const report = { finished, started: [], active: 0, appetite, draining: false, ownTurn: true };
    const { claimed } = await this.#claims.exchange({ ...report, hinted: this.#hinted });
    this.#hinted = claimed.length === 0;
    this.#held = claimed.map(({ id, epoch }) => ({ id, epoch }));
    return claimed.length;
  }
}

/**
 * This worker serves another queue, so it admits the run and puts its items in line but claims none of them.
 */
async function allInLine(sluice: Sluice, run: string, count: number): Promise<void> {
  const worker = await sluice.worker({ slots: 1, queues: ["default"] });
  await until(async () => {
    const step = (await sluice.runs.get(run))?.steps.find(({ name }) => name === "each");
    return step?.items?.created === count;
  });
  await worker.stop();
}

await asChild(import.meta.url, async ({ url, count, measured }: Late) => {
  const { app, all } = listApp(1);
  const sluice = await connect({ store: url, app, migrate: true });
  const { id } = await sluice.submit(all, count);
  await allInLine(sluice, id, count);
  if (url.startsWith("postgres")) await settle(url);
  const line = await Line.open(sluice, id);
  const early = await line.handOver(measured);
  await line.skip(count - 2 * measured - 4 * ENDS);
  const late = await line.handOver(measured);
  await sluice.close();
  return { early, late };
});
