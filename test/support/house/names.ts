// Rules for exported names: each one is imported somewhere, and a type's name has one meaning.

import type { Module } from "./module.ts";
import type { Modules } from "./modules.ts";

/** Exports of src that nobody imports. `entries` are the files that users import. */
export function unusedExports(modules: Modules, entries: readonly string[]): string[] {
  const used = new Set<string>();
  const use = (module: Module, name: string): void => {
    const key = `${module.path} ${name}`;
    if (used.has(key)) return;
    used.add(key);
    if (name === "*") {
      for (const given of module.exports) use(module, given.name);
      for (const star of module.stars) useOf(module, star, "*");
      return;
    }
    const own = module.exports.find((given) => given.name === name);
    if (!own) for (const star of module.stars) useOf(module, star, name);
    else if (own.from !== undefined) useOf(module, own.from, own.local);
  };
  const useOf = (from: Module, specifier: string, name: string): void => {
    const target = modules.target(from, specifier);
    if (target && target !== from) use(target, name);
  };
  for (const path of entries) {
    const entry = modules.at(path);
    if (!entry) throw new Error(`${path} is not there, but package.json names it`);
    use(entry, "*");
  }
  for (const module of modules.all())
    for (const { specifier, names } of module.imports)
      for (const name of names) useOf(module, specifier, name);
  return modules
    .product()
    .flatMap(({ path, exports }) =>
      exports
        .filter(({ name }) => !used.has(`${path} ${name}`))
        .map(({ name, line }) => `${path}:${line}: nobody imports ${name}`),
    );
}

/** Names under which src exports types from more than one declaration. */
export function ambiguousTypes(modules: Modules): string[] {
  const places = new Map<string, Set<string>>();
  for (const module of modules.product()) {
    for (const given of module.exports) {
      const origin = modules.origin(module, given);
      if (!origin.module.types.has(origin.name)) continue;
      const found = places.get(given.name) ?? new Set();
      places.set(given.name, found.add(`${origin.name} of ${origin.module.path}`));
    }
  }
  return [...places]
    .filter(([, found]) => found.size > 1)
    .map(([name, found]) => `${name} is ${[...found].sort().join(" and ")}`)
    .sort();
}
