/**
 * Declares an app. Only a starting worker and a deploy do this; connecting to enqueue or to look never does.
 */
import type { App } from "../core/app/app.ts";
import type { Occasion, Store } from "../store/store.ts";
import { appName } from "./app-name.ts";
import { declarationOf } from "./declaration.ts";

export interface Deployed {
  /** The name under which its limits are declared. */
  readonly app: string;
  /** False if a later deploy of this app has replaced these limits. Then the later ones apply. */
  readonly inForce: boolean;
  /** When the declaration in force took effect. */
  readonly at: number;
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
  return { app: name, inForce, at };
}
