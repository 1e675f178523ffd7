// All files that import each other, and the origins of re-exported names.

import { posix } from "node:path";
import type { SourceFile } from "../rooms.ts";
import type { Given, Module } from "./module.ts";
import { isTest, readModule } from "./module.ts";

export class Modules {
  readonly #all: ReadonlyMap<string, Module>;

  constructor(files: readonly SourceFile[]) {
    this.#all = new Map(files.map((file) => [file.path, readModule(file)]));
  }

  all(): readonly Module[] {
    return [...this.#all.values()];
  }

  /** The files of src, with the tests beside them. */
  inSrc(): readonly Module[] {
    return this.all().filter(({ path }) => path.startsWith("src/"));
  }

  /** The files of the package. */
  product(): readonly Module[] {
    return this.inSrc().filter((module) => !isTest(module));
  }

  at(path: string): Module | undefined {
    return this.#all.get(path);
  }

  /** The file that a relative specifier in `from` refers to. */
  target(from: Module, specifier: string): Module | undefined {
    if (!specifier.startsWith(".")) return undefined;
    return this.#all.get(posix.join(posix.dirname(from.path), specifier).replace(/\.js$/, ".ts"));
  }

  /** The file that declares what `module` exports as `given`, and its name there. */
  origin(module: Module, given: Given): { readonly module: Module; readonly name: string } {
    const next = given.from === undefined ? undefined : this.target(module, given.from);
    if (!next) return { module, name: given.local };
    const found = this.given(next, given.local);
    return found ? this.origin(found.module, found.given) : { module: next, name: given.local };
  }

  /** The export of `module` with this name, its own or through `export *`. */
  given(module: Module, name: string): { readonly module: Module; readonly given: Given } | undefined {
    const own = module.exports.find((given) => given.name === name);
    if (own) return { module, given: own };
    for (const star of module.stars) {
      const next = this.target(module, star);
      const found = next && this.given(next, name);
      if (found) return found;
    }
    return undefined;
  }
}
