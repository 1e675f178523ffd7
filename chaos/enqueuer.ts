/**
 * Enqueues through the built product, a batch at a time, and logs what was acknowledged: only what is in that
 * file was promised. Work with a key is enqueued again until it is acknowledged. The steps and items of a run
 * are logged before it is submitted, so they are known even if the answer is lost.
 *
 *   node enqueuer.ts '{"store": …, "root": …, "log": …, "seed": …, "poison": …, "opens": …}'
 */
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type * as Product from "../src/index.ts";
import type { Mix, Order, RunOrder } from "./app/mix.ts";
import { draw, drawRuns, openingRuns, openingTasks } from "./app/mix.ts";
import { Random } from "./random.ts";

export interface EnqueuerOrder {
  readonly store: string;
  /** The folder with the product and its app. */
  readonly root: string;
  readonly log: string;
  readonly seed: number;
  readonly poison: number;
  /** True to begin with enough work to fill every limit. */
  readonly opens: boolean;
  readonly mix: Mix;
}

const { store, root, log, seed, poison, opens, mix } = JSON.parse(process.argv[2] ?? "{}") as EnqueuerOrder;
const load = (path: string): Promise<unknown> => import(pathToFileURL(join(root, path)).href);
const { connect } = (await load("dist/index.js")) as typeof Product;
const { default: app } = (await load("chaos/app/app.ts")) as { default: Product.App };
const random = new Random(seed);
const file = openSync(log, "a");
const keys = `${process.pid}`;

let held = false;
let over = false;
process.on("message", (word) => {
  held = word === "hold";
  if (word === "end") over = true;
});
process.once("disconnect", () => process.exit(1));

const sluice = await patiently(() => connect({ store, app }));
process.send?.("ready");
const poisoned = Array.from(
  { length: poison },
  (): Order => ({ name: "poison", input: { ms: 0 }, key: null, delay: null, priority: 9 }),
);
let pending: Order[] = opens ? [...openingTasks(), ...poisoned] : poisoned;
let runs: RunOrder[] = opens ? openingRuns(keys) : [];
while (!over) {
  if (held && pending.length === 0) {
    await sleep(50);
    continue;
  }
  if (pending.length === 0)
    pending = Array.from({ length: 1 + random.below(12) }, () => draw(random, keys, mix));
  pending = await enqueue(pending);
  if (runs.length === 0) runs = drawRuns(random, keys, mix);
  runs = await submit(runs);
  await sleep(60 + random.below(160));
}
process.exit(0);

/** Returns the orders that must be enqueued again. */
async function enqueue(orders: readonly Order[]): Promise<Order[]> {
  try {
    const answers = await sluice.enqueueMany(
      orders.map(({ name, input, key, delay, priority }) => ({
        task: app.tasks.get(name) as never,
        input: input as never,
        options: {
          priority,
          ...(key ? { idempotencyKey: key } : {}),
          ...(delay ? { delay: delay as "1s" } : {}),
        },
      })),
    );
    const line = { ids: answers.map(({ id }) => id), keys: orders.map(({ key }) => key) };
    writeSync(file, `${JSON.stringify(line)}\n`);
    process.send?.(orders.length);
    return [];
  } catch (error) {
    writeSync(2, `${new Date().toISOString()} ${String(error)}\n`);
    await sleep(200);
    return orders.filter(({ key }) => key !== null);
  }
}

/** Runs have keys, so they are submitted again until they are acknowledged. Returns those that were not. */
async function submit(orders: readonly RunOrder[]): Promise<RunOrder[]> {
  const left = [...orders];
  try {
    for (let order = left[0]; order; order = left[0]) {
      const { workflow, input, key, tenant, priority } = order;
      writeSync(file, `${JSON.stringify({ key, workflow, marks: marksIn(input) })}\n`);
      const { id } = await sluice.submit(workflow, input as never, {
        idempotencyKey: key,
        tags: { tenant },
        priority,
      });
      writeSync(file, `${JSON.stringify({ ids: [id], keys: [key] })}\n`);
      left.shift();
    }
  } catch (error) {
    writeSync(2, `${new Date().toISOString()} ${String(error)}\n`);
  }
  return left;
}

function marksIn(input: RunOrder["input"]): string[] {
  return Object.values(input).flatMap((errand) => [errand].flat().map(({ mark }) => mark));
}

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      writeSync(2, `${String(error)}\n`);
      await sleep(300);
    }
  }
}
