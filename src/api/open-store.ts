/** Opens a store from its URL. Drivers are loaded only when they are used. */
import { fileURLToPath } from "node:url";
import { SluiceError } from "../core/error.ts";
import { isAnswer, isAway, masked, refused, unreachable } from "../store/away.ts";
import type { Store } from "../store/store.ts";

export { masked };

/** The store of a program or a command that names none. */
export const defaultStore = (): string => process.env.SLUICE_STORE || "file:.sluice/storage/sluice.db";

interface OpenOptions {
  /** Bring the schema up to date. The embedded store always does. */
  readonly migrate?: boolean;
  /** If false, a file that holds no store is refused and left as it is. */
  readonly create?: boolean;
}

/** Accepts `file:…`, `postgres://…`, `mysql://…` and `memory:`; throws on anything else. */
export async function openStore(
  url: string,
  { migrate = false, create = true }: OpenOptions = {},
): Promise<Store> {
  let store: Store | undefined;
  try {
    store = await open(url, create);
    if (migrate) await store.migrate();
    // Also checked after a migration, because the store may be newer than this version knows.
    await store.verify();
    return store;
  } catch (error) {
    await store?.close().catch(() => {});
    throw unreachableFor(url, error);
  }
}

async function open(url: string, create: boolean): Promise<Store> {
  const scheme = /^(\w+):/.exec(url)?.[1];
  if (scheme === "memory") return (await import("../store/memory/index.ts")).openMemory();
  if (scheme === "file")
    return (await import("../store/sqlite/index.ts")).openSqlite(pathOf(url), undefined, { create });
  if (scheme === "postgres" || scheme === "postgresql")
    return (await import("../store/postgres/index.ts")).openPostgres({ url });
  if (scheme === "mysql" || scheme === "mariadb")
    return (await import("../store/mysql/index.ts")).openMysql({ url: url.replace(/^mariadb:/, "mysql:") });
  throw new SluiceError(
    "BAD_STORE_URL",
    `"${masked(url)}" is not a store. Write file:path/to/sluice.db, postgres://user@host/database or mysql://user@host/database.`,
  );
}

const pathOf = (url: string): string =>
  url.startsWith("file://") ? fileURLToPath(url) : url.slice("file:".length);

/** For a store that was already open: wraps only errors that mean the store is away. */
export const unreachableIfLost = (url: string, error: unknown): unknown =>
  isAway(error) ? unreachableFor(url, error) : error;

function unreachableFor(url: string, error: unknown): unknown {
  if (error instanceof SluiceError) return error;
  return isAnswer(error) ? refused(url, error) : unreachable(url, error);
}
