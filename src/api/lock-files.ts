/**
 * Limits of semaphores from ConfigMap files. A file declares its limits like an app does, under a name of its own. So
 * an operator's change of a limit stays until the file says something new about it, and a key that is taken out of
 * the file leaves its semaphore unset.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { App } from "../core/app/app.ts";
import { SluiceError } from "../core/error.ts";
import { semaphoreKey } from "../core/gate/key.ts";
import { bornAs } from "../core/gate/kind.ts";
import { ofFile } from "../core/gate/source.ts";
import { configMapsIn } from "../manifest/config-map.ts";
import type { DeclaredGate, Occasion, Store } from "../store/store.ts";

interface Place {
  /** The name under which the limits of the app are declared. */
  readonly app: string;
  /** The app's own file. Paths are relative to its folder, or else to the current one. */
  readonly file?: string | URL | undefined;
}

export class LockFiles {
  readonly #store: Store;
  readonly #app: App;
  readonly #folder: string;
  readonly #owner: string;
  /** The last known text of each file. */
  readonly #texts = new Map<string, string>();

  constructor(store: Store, app: App, { app: owner, file }: Place) {
    this.#store = store;
    this.#app = app;
    this.#owner = owner;
    this.#folder = file === undefined ? process.cwd() : dirname(resolve(pathOf(file)));
  }

  /** Declares every file. A worker that starts does not bring back what a later version of a file has replaced. */
  async declareAll(occasion: Occasion): Promise<void> {
    for (const [path, text] of this.#read()) await this.#declare(path, text, occasion);
  }

  /** Declares files that have changed since the last look. */
  async look(): Promise<undefined> {
    const found = this.#read();
    for (const path of this.#texts.keys()) if (!found.has(path)) found.set(path, "");
    const failures: unknown[] = [];
    for (const [path, text] of found)
      if (this.#texts.get(path) !== text)
        await this.#declare(path, text, "deploy").catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  async #declare(path: string, text: string, occasion: Occasion): Promise<void> {
    // A wrong file is reported once, and what it said before stays.
    const known = this.#texts.get(path);
    this.#texts.set(path, text);
    const gates = this.#gatesIn(path, text);
    const app = ofFile(relative(this.#folder, path).split(sep).join("/"), this.#owner);
    try {
      const before = await this.#saidBy(app);
      const { inForce } = await this.#store.declare({ app, queues: [], gates }, occasion);
      if (!inForce) return;
      await this.#takeBack(app, before, new Map(gates.map(({ key, limit }) => [key, limit])));
      for (const hint of ["work", "runs"] as const) this.#store.hint(hint);
    } catch (error) {
      // The store did not take it, so the next look tries again.
      if (known === undefined) this.#texts.delete(path);
      else this.#texts.set(path, known);
      throw error;
    }
  }

  #gatesIn(path: string, text: string): DeclaredGate[] {
    try {
      return configMapsIn(text).flatMap(({ name, namespace, limits }) =>
        Object.entries(limits).map(([key, limit]) => {
          const gate = semaphoreKey(`${name}/${key}`, namespace ?? this.#app.namespace);
          return { key: gate, limit, line: bornAs(gate).line };
        }),
      );
    } catch (cause) {
      throw new SluiceError("BAD_CONFIG_MAP", `${path}: ${(cause as Error).message}.`, { cause });
    }
  }

  async #saidBy(app: string): Promise<ReadonlyMap<string, number | null>> {
    const gates = await this.#store.gates();
    return new Map(
      gates.flatMap(({ key, said }) => {
        const own = said.find((each) => each.app === app);
        return own ? [[key, own.limit] as const] : [];
      }),
    );
  }

  /** Where the file says something new, it wins over an operator and over plain SQL. */
  async #takeBack(
    by: string,
    before: ReadonlyMap<string, number | null>,
    now: ReadonlyMap<string, number>,
  ): Promise<void> {
    const changed = [...before].filter(([key, limit]) => (now.get(key) ?? null) !== limit);
    for (const [key] of changed) {
      const gate = (await this.#store.gates()).find((each) => each.key === key);
      if (gate && (gate.setBy !== null || gate.limit !== gate.declared))
        await this.#store.changeLimit({ key, to: "declared", by });
    }
  }

  #read(): Map<string, string> {
    const paths = this.#app.configMaps.flatMap((pattern) => matching(resolve(this.#folder, pattern)));
    return new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
  }
}

const pathOf = (file: string | URL): string =>
  file instanceof URL || file.startsWith("file:") ? fileURLToPath(file) : file;

/** Only the name of the file may contain stars. A file that is not there yet is found once it is. */
function matching(pattern: string): string[] {
  const folder = dirname(pattern);
  const parts = basename(pattern)
    .split("*")
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const wanted = new RegExp(`^${parts.join(".*")}$`);
  try {
    return readdirSync(folder)
      .filter((name) => wanted.test(name))
      .sort()
      .map((name) => resolve(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
