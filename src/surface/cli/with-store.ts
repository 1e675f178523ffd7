/** Opens the store of a command for as long as the command uses it. */

import { connect } from "../../api/connect.ts";
import { openStore } from "../../api/open-store.ts";
import type { Sluice } from "../../api/sluice.ts";
import type { GlobalOptions } from "./settings.ts";
import { fileOf, storeUrl } from "./settings.ts";
import { mustBeThere } from "./store-file.ts";
import { syncAccess } from "./sync-access.ts";

/** Opens the store to look at it or change it. Unlike `dev`, this never creates a store. */
export async function withStore<T>(options: GlobalOptions, use: (sluice: Sluice) => Promise<T>): Promise<T> {
  const url = storeUrl(options);
  const file = fileOf(url);
  if (file !== undefined) mustBeThere(file, options);
  const access = await syncAccess(options);
  const store = await openStore(url, { create: false });
  const sluice = await connect({ store, ...(access ? { sync: access } : {}) });
  try {
    return await use(sluice);
  } finally {
    await sluice.close();
  }
}
