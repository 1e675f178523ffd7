/** Copies the built product to a folder and plants one fault in it. */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Product } from "../crew/product.ts";
import { productAt } from "../crew/product.ts";
import type { Mutant } from "./mutants.ts";

export function makeMutant({ name, file, pieces }: Mutant, { root }: Product, folder: string): Product {
  mkdirSync(join(folder, "chaos"), { recursive: true });
  for (const part of ["dist", "package.json", "chaos/app", "chaos/random.ts"])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const path = join(folder, "dist", file);
  writeFileSync(path, mutate({ name, file, pieces }, readFileSync(path, "utf8")));
  return productAt(folder);
}

export function mutate(
  { name, file, pieces }: Pick<Mutant, "name" | "file" | "pieces">,
  code: string,
): string {
  return pieces.reduce((text, { find, instead }) => {
    const times = text.split(find).length - 1;
    if (times !== 1)
      throw new Error(
        `"${name}": the piece to replace is ${times} times in dist/${file}, so the fault must be written anew:\n${find}`,
      );
    return text.replace(find, () => instead);
  }, code);
}
