/** A worker declares the files of its app when it starts, and watches them from then on. */
import type { App } from "../core/app/app.ts";
import type { Polling } from "../engine/loop.ts";
import { Loop } from "../engine/loop.ts";
import type { Service } from "../engine/service.ts";
import type { Env } from "../env/env.ts";
import type { Occasion, Store } from "../store/store.ts";
import { LockFiles } from "./lock-files.ts";

interface Watching extends Polling {
  readonly occasion: Occasion;
  readonly app: string;
  readonly file: string | URL | undefined;
}

export async function watchedFiles(
  store: Store,
  env: Env,
  app: App,
  { occasion, app: owner, file, ...polling }: Watching,
): Promise<Service[]> {
  if (app.configMaps.length === 0) return [];
  const files = new LockFiles(store, app, { app: owner, file });
  await files.declareAll(occasion);
  return [new Loop(env, polling, () => files.look())];
}
