/** How a command reaches the sync database: --sync or SLUICE_SYNC, a URL or the file of an app. */
import type { SyncAccess } from "../../api/shared-access.ts";
import { syncOf } from "../../core/app/sync.ts";
import { loadApp } from "./load-app.ts";
import type { GlobalOptions } from "./settings.ts";
import { UsageError } from "./usage-error.ts";

const URL_LIKE = /^\w+:\/\//;

/** Undefined if the command line names no sync database. */
export async function syncAccess({
  sync = process.env.SLUICE_SYNC,
}: GlobalOptions): Promise<SyncAccess | undefined> {
  if (!sync) return undefined;
  if (URL_LIKE.test(sync)) return withDefaults(sync);
  const { app } = await loadApp(sync);
  if (!app.sync) throw new UsageError(`the app ${sync} has no sync section`);
  return app.sync;
}

/** With the default names of the tables. An app file can name others. */
function withDefaults(url: string): SyncAccess | undefined {
  const said = syncOf({ tasks: [], sync: { url, controllerName: "-" } });
  return said ? { url, inactiveMs: said.inactiveMs, tables: said.tables } : undefined;
}
