/** All defects. Every file in `defects/` is a list, named after the part of the code it belongs to. */
import { readdirSync } from "node:fs";
import { basename } from "node:path";
import type { Defect } from "./defect.ts";
import { ListError } from "./plant.ts";

export interface Listed extends Defect {
  /** The name of its list. */
  readonly area: string;
}

const folder = new URL("defects/", import.meta.url);

export async function allDefects(): Promise<Listed[]> {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .sort();
  const lists = await Promise.all(
    files.map(async (name) => {
      const { defects } = (await import(new URL(name, folder).href)) as { defects: readonly Defect[] };
      return defects.map((defect): Listed => ({ ...defect, area: basename(name, ".ts") }));
    }),
  );
  const all = lists.flat();
  const known = new Set<string>();
  for (const { id } of all) {
    if (known.has(id)) throw new ListError(`${id}: two defects have this id`);
    known.add(id);
  }
  return all;
}

/** The defects with one of these words in their id, list, file or test. Without words, all of them. */
export function chosen(defects: readonly Listed[], words: readonly string[]): Listed[] {
  if (words.length === 0) return [...defects];
  return defects.filter(({ id, area, file, noticedBy }) =>
    words.some((word) => [id, area, file, noticedBy.file].some((text) => text.includes(word))),
  );
}
