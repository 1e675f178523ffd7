/** Sets up one store with all participants, and cleans up afterwards, whatever happened. */
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Mix } from "./app/mix.ts";
import { Crew } from "./crew/crew.ts";
import { Ear } from "./crew/ear.ts";
import { Eyewitness } from "./crew/eyewitness.ts";
import { Feeder } from "./crew/feeder.ts";
import { Poller } from "./crew/poller.ts";
import type { Product } from "./crew/product.ts";
import { command, workerArgs } from "./crew/product.ts";
import type { Scene } from "./fault/scene.ts";
import { Done } from "./fault/scene.ts";
import { mariadbPlace } from "./place/mariadb.ts";
import type { Place, StoreName } from "./place/place.ts";
import { postgresPlace } from "./place/postgres.ts";
import { sqlitePlace } from "./place/sqlite.ts";
import { Line } from "./proxy/line.ts";

export const GRACE_MS = 3_000;
/** MANY in line keep all workers busy. With FEW, lost work runs again at once. */
const MANY = 40;
const FEW = 5;
const PRELOAD = fileURLToPath(new URL("app/preload.mjs", import.meta.url));
const HOUR_MS = 3_600_000;

export interface StageOptions {
  readonly store: StoreName;
  readonly product: Product;
  readonly folder: string;
  readonly seed: number;
  readonly tasks: number;
  readonly poison: number;
  readonly workers: number;
  readonly mix: Mix;
  /** True if the trial starts by filling every limit, before any disturbance. */
  readonly opens: boolean;
  /** True if the trial must meet everything it is about, and does not end before it has. */
  readonly isWhole: boolean;
}

export interface Stage extends Scene {
  readonly poller: Poller;
  readonly ear: Ear;
  close(): Promise<void>;
}

export async function openStage(options: StageOptions): Promise<Stage> {
  const { store, product, folder, workers } = options;
  mkdirSync(folder, { recursive: true });
  const place = await openPlace(store, folder);
  const closing: (() => unknown)[] = [() => place.close()];
  const close = async (): Promise<void> => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  try {
    await command(product, ["migrate", "--store", place.url]);
    // The first reader caches the compiled app, so that fifteen processes do not compile it at once.
    await command(product, ["deploy", product.app, "--store", place.url]);
    await place.plant();
    const witness = await Eyewitness.open(folder);
    closing.push(() => witness.end().catch(() => {}));
    const lines = await Promise.all(Array.from({ length: workers + 1 }, () => lineTo(place)));
    closing.push(() => Promise.all(lines.map((line) => line?.close())));
    const feeder = newFeeder(options, place, lines[workers]);
    closing.push(() => feeder.end());
    const crew = newCrew(options, place, lines, witness);
    closing.push(() => crew.kill());
    const poller = new Poller(place, feeder, options.mix === "all" ? MANY : FEW);
    closing.push(() => poller.stop());
    const ear = new Ear();
    closing.push(() => ear.stop());
    const done = new Done();
    return { place, product, crew, feeder, done, cancelled: new Set(), witness, poller, ear, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function openPlace(store: StoreName, folder: string): Promise<Place> {
  if (store === "postgres" || store === "installed") return postgresPlace(store);
  return store === "mariadb" ? mariadbPlace() : sqlitePlace(folder);
}

async function lineTo({ url, newWatch }: Place): Promise<Line | undefined> {
  return newWatch ? Line.to(url, newWatch) : undefined;
}

function newFeeder(
  { seed, product, folder, tasks, poison, mix, opens }: StageOptions,
  place: Place,
  line: Line | undefined,
): Feeder {
  const store = line?.url ?? place.url;
  const order = { store, root: product.root, seed, poison, opens, mix };
  return new Feeder({ order, folder, line, most: tasks });
}

function newCrew(
  { product, folder, workers }: StageOptions,
  place: Place,
  lines: readonly (Line | undefined)[],
  witness: Eyewitness,
): Crew {
  return new Crew({
    size: workers,
    folder,
    lines,
    args: (post) => workerArgs(product, post, lines[post]?.url ?? place.url, GRACE_MS),
    env: (post) => ({
      ...process.env,
      NO_COLOR: "1",
      CHAOS_WITNESS: witness.socket,
      NODE_OPTIONS: `--import=${PRELOAD}`,
      CHAOS_SUPERVISOR: String(process.pid),
      CHAOS_SKEW_MS: String(skewOf(post, place)),
    }),
  });
}

/** Two hosts have the wrong time. A SQLite file has only one host, whose time all processes share. */
function skewOf(post: number, { newWatch }: Place): number {
  if (!newWatch || post > 1) return 0;
  return post === 0 ? HOUR_MS : -HOUR_MS;
}
