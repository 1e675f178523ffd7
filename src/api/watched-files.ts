/** A worker declares the files of its app when it starts, and watches them from then on. */
import type { App } from "../core/app/app.ts";
import type { Polling } from "../engine/loop.ts";
import { Loop } from "../engine/loop.ts";
import type { Service } from "../engine/service.ts";
import type { Env } from "../env/env.ts";
import type { Occasion, Store } from "../store/store.ts";
import type { Deployed } from "./deploy.ts";
import { LockFiles } from "./lock-files.ts";
import type { WorkerSettings } from "./worker-settings.ts";

interface Watching extends Polling {
  readonly occasion: Occasion;
  readonly deployed: Pick<Deployed, "app">;
  readonly settings: Pick<WorkerSettings, "file">;
}

export async function watchedFiles(
  store: Store,
  env: Env,
  app: App,
  { occasion, deployed, settings, ...polling }: Watching,
): Promise<Service[]> {
  if (app.configMaps.length === 0) return [];
  const files = new LockFiles(store, app, { app: deployed.app, file: settings.file });
  await files.declareAll(occasion);
  return [new Loop(env, polling, () => files.look())];
}
