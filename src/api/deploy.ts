/**
 * Declares an app. Only a starting worker and a deploy do this; connecting to enqueue or to look never does.
 */
import type { App } from "../core/app/app.ts";
import type { SharedNames } from "../core/app/shared-names.ts";
import { sharedWith } from "../core/app/shared-names.ts";
import type { Occasion, Store } from "../store/store.ts";
import { appName } from "./app-name.ts";
import type { OptionNames } from "./call-options.ts";
import { declarationOf } from "./declaration.ts";
import { LockFiles } from "./lock-files.ts";

export interface Deployed {
  /** The name under which its limits are declared. */
  readonly app: string;
  /** False if a later deploy of this app has replaced these limits. Then the later ones apply. */
  readonly inForce: boolean;
  /** When the declaration in force took effect. */
  readonly at: number;
  /** Its tasks and workflows that another app's declaration in force lists, too. Both apps then share them. */
  readonly shared: readonly SharedNames[];
}

export interface DeployOptions {
  /** The app's own file. */
  readonly file?: string | URL;
}

export const OF_DEPLOY: OptionNames<DeployOptions> = { file: true };

/** Puts an app in force, with the limits of its files. */
export async function deployApp(store: Store, app: App, file: DeployOptions["file"]): Promise<Deployed> {
  const deployed = await declareApp(store, app, { occasion: "deploy", file });
  await new LockFiles(store, app, { app: deployed.app, file }).declareAll("deploy");
  return deployed;
}

export async function declareApp(
  store: Store,
  app: App,
  { occasion, file }: { readonly occasion: Occasion; readonly file?: string | URL | undefined },
): Promise<Deployed> {
  const name = appName(app, file);
  const { inForce, at } = await store.declare(declarationOf(app, name), occasion);
  // A limit may have been raised.
  if (inForce) for (const hint of ["work", "runs"] as const) store.hint(hint);
  const mine = { app: name, tasks: [...app.tasks.keys()], workflows: [...app.workflows.keys()] };
  return { app: name, inForce, at, shared: sharedWith(mine, await store.apps()) };
}
