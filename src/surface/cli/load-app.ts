/** Loads an app file, and the `onDev` function that `sluice dev` may find in it. */
import type { Sluice } from "../../api/sluice.ts";
import type { App } from "../../core/app/app.ts";
import { loadAppFile } from "../../executor/process/app-file.ts";

/** `sluice dev` calls it once the worker runs. `signal` is aborted when the worker stops. */
export type OnDev = (sluice: Sluice, context: { readonly signal: AbortSignal }) => unknown;

interface LoadedApp {
  readonly app: App;
  readonly onDev: OnDev | undefined;
}

export async function loadApp(file: string): Promise<LoadedApp> {
  const { app, exports } = await loadAppFile(file);
  return { app, onDev: typeof exports.onDev === "function" ? (exports.onDev as OnDev) : undefined };
}
