/** Puts every mutant on trial. A checker must convict it by what happened. */
import { join } from "node:path";
import type { Product } from "../crew/product.ts";
import type { Finding } from "../history.ts";
import { hold } from "../trial.ts";
import { makeMutant } from "./make.ts";
import { MUTANTS } from "./mutants.ts";

/** A mutant may lose work for good, so we do not wait long for it. */
const HEALING_MS = 15_000;
const WORKERS = 5;

export async function hunt(
  product: Product,
  seed: number,
  folder: string,
  only: string | undefined,
): Promise<boolean> {
  const lines: string[] = [];
  let ok = true;
  for (const [index, mutant] of MUTANTS.entries()) {
    if (only && !mutant.name.includes(only)) continue;
    const home = join(folder, `mutant-${index + 1}`);
    const { findings } = await hold({
      store: mutant.store,
      product: makeMutant(mutant, product, join(home, "product")),
      folder: join(home, "trial"),
      seed,
      tasks: 1_000_000,
      poison: 0,
      workers: WORKERS,
      mix: mutant.mix,
      opens: mutant.opens ?? false,
      isWhole: false,
      plan: mutant.plan,
      outageMs: 0,
      healingMs: HEALING_MS,
      say: (what) =>
        console.log(`${new Date().toISOString().slice(11, 19)} mutant "${mutant.name}": ${what}`),
    });
    const guilty = findings.filter(isEvidence);
    ok &&= guilty.length > 0;
    const by = guilty.map(({ check, violations }) => `${check} (${violations.length})`).join(", ");
    lines.push(
      `  ${guilty.length > 0 ? "caught " : "ESCAPED"}  ${mutant.name}, ${mutant.store}: ${by || "nobody noticed"}`,
    );
    for (const { violations } of guilty.slice(0, 2)) lines.push(`             ${violations[0]}`);
  }
  console.log(`\nmutants\n${lines.join("\n")}\n`);
  return ok;
}

/** That something did not happen in such a short time proves nothing about the product. */
const isEvidence = ({ check, violations }: Finding): boolean =>
  !check.startsWith("C10") && violations.length > 0;
