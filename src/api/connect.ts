/** Opens a store for a program or a surface. */
import { hostEnv } from "../env/host.ts";
import { checked } from "../store/checked.ts";
import type { ConnectOptions } from "./connect-options.ts";
import { connectOptions } from "./connect-options.ts";
import { defaultStore, openStore } from "./open-store.ts";
import { Sluice } from "./sluice.ts";

/** Opens a store to enqueue and to look. It changes no limit: only a starting worker and `deploy` declare limits. */
export async function connect(options: ConnectOptions = {}): Promise<Sluice> {
  const {
    store = defaultStore(),
    app,
    migrate = false,
    env = hostEnv(),
    sync,
    locks,
  } = connectOptions(options);
  const opened = checked(typeof store === "string" ? await openStore(store, { migrate }) : store);
  return new Sluice(opened, app, env, { locks, sync: sync ?? app?.sync ?? undefined });
}
