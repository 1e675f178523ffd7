/**
 * `npm run chaos`: real processes, real databases, real kills. This supervisor knows the tables and the
 * command line and imports nothing of the product. It judges a run by what the database, the witness and the
 * supervisor itself recorded.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MariadbNotFound } from "../test/support/mariadb.ts";
import { InstalledPostgresNotFound } from "../test/support/postgres.ts";
import type { Product } from "./crew/product.ts";
import { productAt } from "./crew/product.ts";
import type { Verdict } from "./judge.ts";
import { hunt } from "./mutant/hunt.ts";
import type { Options } from "./options.ts";
import { optionsOf } from "./options.ts";
import type { StoreName } from "./place/place.ts";
import { planOf } from "./plan.ts";
import { reportOf } from "./report.ts";
import { hold } from "./trial.ts";

const HEALING_MS = 90_000;

async function trials(options: Options, folder: string): Promise<boolean> {
  const product = productAt();
  const left = [...options.stores];
  let ok = true;
  const oneAfterTheOther = async (): Promise<void> => {
    for (let store = left.shift(); store; store = left.shift())
      if (!(await isFineOn(store, product, options, folder))) ok = false;
  };
  await Promise.all(Array.from({ length: Math.max(1, options.atOnce) }, oneAfterTheOther));
  return ok;
}

async function isFineOn(
  store: StoreName,
  product: Product,
  options: Options,
  folder: string,
): Promise<boolean> {
  try {
    const verdict = await trial(store, product, options, folder);
    console.log(`\n${reportOf(verdict)}\n`);
    return verdict.ok;
  } catch (error) {
    // A store that this machine lacks is reported and skipped, unless it was requested by name.
    const isMissing = error instanceof MariadbNotFound || error instanceof InstalledPostgresNotFound;
    if (!isMissing || options.stores.length === 1) throw error;
    console.log(`${store}: not run, ${error.message}\n`);
    return true;
  }
}

function trial(store: StoreName, product: Product, options: Options, folder: string): Promise<Verdict> {
  return hold({
    store,
    product,
    folder: join(folder, store),
    seed: options.seed,
    tasks: options.tasks,
    poison: options.poison,
    workers: options.workers,
    mix: "all",
    opens: true,
    isWhole: true,
    plan: planOf(options.seed, store, options),
    outageMs: options.outageMs,
    healingMs: HEALING_MS,
    say: (what) => console.log(`${new Date().toISOString().slice(11, 19)} ${store}: ${what}`),
  });
}

const options = optionsOf(process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), "sluice-chaos-"));
console.log(`seed ${options.seed}`);
const ok = await (options.mutants
  ? hunt(productAt(), options.seed, folder, options.only)
  : trials(options, folder));
console.log(`${ok ? "passed" : "FAILED"}; again with: ${options.again}`);
if (ok) rmSync(folder, { recursive: true, force: true });
else console.log(`everything that was written down: ${folder}`);
process.exit(ok ? 0 : 1);
