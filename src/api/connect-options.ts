/** The options of `connect`. They are checked first: a misspelt one would open the default store, a new local file. */
import type { App } from "../core/app/app.ts";
import { SluiceError } from "../core/error.ts";
import { shortly } from "../core/text.ts";
import type { Env } from "../env/env.ts";
import { ALL_PORTS, missingVerbs } from "../store/capabilities.ts";
import type { Store } from "../store/store.ts";
import type { OptionNames } from "./call-options.ts";
import { knownOptions } from "./call-options.ts";
import type { LockSettings } from "./code-locks.ts";
import type { SyncAccess } from "./shared-access.ts";

export interface ConnectOptions {
  /**
   * A URL, or a store that is open already. Without it, as for the commands: the store that the variable SLUICE_STORE names, or
   * else `file:.sluice/storage/sluice.db`.
   */
  readonly store?: string | Store;
  /** The app whose tasks are enqueued and run. Without an app you can only look and change limits. */
  readonly app?: App;
  /** Brings the schema up to date. The embedded store always does this. Other stores are only checked by default. */
  readonly migrate?: boolean;
  readonly env?: Env;
  /** The sync database, to see and change shared locks without the app. */
  readonly sync?: SyncAccess;
  /** How the locks of this client are held. */
  readonly locks?: LockSettings;
}

/** What a client needs to reach locks. */
export interface LockAccess {
  readonly sync?: SyncAccess | undefined;
  readonly locks?: LockSettings | undefined;
}

const FIELDS: OptionNames<ConnectOptions> = {
  store: true,
  app: true,
  migrate: true,
  env: true,
  sync: true,
  locks: true,
};

export function connectOptions(given: ConnectOptions): ConnectOptions {
  refuseBare(given);
  const options = knownOptions("connect", given, FIELDS);
  const { store, app } = options;
  if (store !== undefined && typeof store !== "string" && !isStore(store))
    throw new SluiceError(
      "BAD_OPTIONS",
      `connect: store must be a URL as a string, or an open store, but is ${shortly(store)}.`,
    );
  if (store !== undefined && typeof store !== "string") refuseParts(store);
  if (app !== undefined && !isApp(app))
    throw new SluiceError(
      "BAD_OPTIONS",
      `connect: app must be an app that defineApp returned, but is ${shortly(app)}.`,
    );
  return options;
}

/** A call would fail in the middle of its work if the store lacked a verb. */
function refuseParts(store: Store): void {
  const lacking = ALL_PORTS.flatMap((port) => {
    const verbs = missingVerbs(store, port);
    return verbs.length > 0 ? [`${port} (${verbs.join(", ")})`] : [];
  });
  if (lacking.length > 0)
    throw new SluiceError(
      "BAD_OPTIONS",
      `connect: store must have every verb of every port, but lacks some of ${lacking.join(", ")}.`,
    );
}

/** A store or an app that was given without its name. A URL is not repeated, because it may hold a password. */
function refuseBare(given: unknown): void {
  const bare = bareOption(given);
  if (bare === undefined) return;
  const [what, call] = bare;
  throw new SluiceError(
    "BAD_OPTIONS",
    `connect takes its options as an object, but got ${what}. Write ${call}.`,
  );
}

function bareOption(given: unknown): readonly [what: string, call: string] | undefined {
  if (typeof given === "string") return ["a string", 'connect({ store: "…" })'];
  if (given instanceof URL) return ["a URL", 'connect({ store: "…" })'];
  if (isStore(given)) return ["a store", "connect({ store })"];
  return isApp(given) ? ["an app", "connect({ app })"] : undefined;
}

const fieldsOf = (given: unknown): Readonly<Record<string, unknown>> =>
  typeof given === "object" && given !== null ? (given as Record<string, unknown>) : {};

const isStore = (given: unknown): boolean =>
  typeof fieldsOf(given).kind === "string" && typeof fieldsOf(given).close === "function";

/** Before it was checked, the tasks of an app are a list. */
const isApp = (given: unknown): boolean => typeof fieldsOf(fieldsOf(given).tasks).get === "function";
