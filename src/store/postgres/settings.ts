/**
 * The settings that our transactions run under, whatever the server, the database or the role has set. They
 * are set with the connection or, behind a pooler, where a connection is ours only for one transaction, with
 * each transaction.
 */
import type { Statement } from "./burst.ts";

/**
 * A lock holder that goes silent is cut off, and a waiter that waits longer than that starts over, so
 * statements need no other time limit. A plan is made for all values and kept for a while. The hot tables are
 * short when it is made and full of dead rows when it runs, so it must always use an index; cost settings
 * cannot achieve that for a table that is empty at the time. No statement runs long enough to be worth
 * compiling. Lists are sent as text, and a NULL in a list is a NULL.
 */
export const SETTINGS = {
  idle_in_transaction_session_timeout: "1000",
  lock_timeout: "3000",
  statement_timeout: "0",
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  jit: "off",
  array_nulls: "on",
} as const;

/** A connection that waits for work, or for a hint, may be idle for a long time. */
const OF_A_CONNECTION = { ...SETTINGS, idle_session_timeout: "0" } as const;

/** Reads for users are rare, so each may choose its own plan for its values. */
const WHILE_READING = { enable_seqscan: "on", plan_cache_mode: "force_custom_plan" } as const;

export interface Access {
  readonly connectionString: string;
  readonly options: string;
}

/**
 * Settings from the URL or the environment (a search_path, for example) come before ours and are not
 * replaced.
 */
export function accessOf(url: string, environment: string | undefined = process.env.PGOPTIONS): Access {
  const ours = Object.entries(OF_A_CONNECTION).map(([name, value]) => `-c ${name}=${value}`);
  const { connectionString, theirs } = apart(url);
  const before = theirs ?? environment;
  return { connectionString, options: [...(before ? [before] : []), ...ours].join(" ") };
}

/** If the URL has `options`, the driver uses only those. */
function apart(url: string): { connectionString: string; theirs?: string } {
  if (!URL.canParse(url)) return { connectionString: url };
  const parsed = new URL(url);
  const theirs = parsed.searchParams.get("options");
  if (theirs === null) return { connectionString: url };
  parsed.searchParams.delete("options");
  return { connectionString: parsed.href, theirs };
}

const plain = (text: string): Statement => ({ text, values: [] });

/** Sets all of them in one statement. */
const setLocally = (settings: Readonly<Record<string, string>>): Statement =>
  plain(
    `SELECT ${Object.entries(settings)
      .map(([name, value]) => `set_config('${name}', '${value}', true)`)
      .join(", ")}`,
  );

/** Independent of the default isolation of the server, the database or the role. */
const WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED";
/** Everything is read at one instant. */
const READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

interface Beginning {
  readonly writing: readonly Statement[];
  readonly reading: readonly Statement[];
}

export const BEGIN: Readonly<Record<"ours" | "pooled", Beginning>> = {
  ours: {
    writing: [{ ...plain(WRITING), name: "sluice_begin" }],
    reading: [plain(READING), setLocally(WHILE_READING)],
  },
  pooled: {
    writing: [plain(WRITING), setLocally(SETTINGS)],
    reading: [plain(READING), setLocally({ ...SETTINGS, ...WHILE_READING })],
  },
};
