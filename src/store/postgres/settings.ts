/**
 * The settings that our transactions run under, whatever the server, the database or the role has been given. They come
 * with the connection; behind a pooler, where a connection is not ours for longer than a transaction, with each of those.
 */
import type { Statement } from "./burst.ts";

/**
 * A holder of locks that goes silent is cut off; whoever waits for it longer than that starts over, so no statement needs
 * another end. A plan is made for all values, and kept for a while. The hot tables are short when it is made and full of
 * dead rows when it runs: always by index, which no price can say of a table that is empty at that moment. Nothing here
 * runs long enough to be worth compiling. Lists travel as text, and an empty place in one is an empty place.
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

/** A connection that waits for work, or for a hint, is idle for as long as there is none. */
const OF_A_CONNECTION = { ...SETTINGS, idle_session_timeout: "0" } as const;

/** What people ask is not asked often: free to choose its plan, and for the values it is asked with. */
const WHILE_READING = { enable_seqscan: "on", plan_cache_mode: "force_custom_plan" } as const;

export interface Access {
  readonly connectionString: string;
  readonly options: string;
}

/** Settings that a URL or the environment asks for (a search_path, say) stand before ours, they are not replaced. */
export function accessOf(url: string, environment: string | undefined = process.env.PGOPTIONS): Access {
  const ours = Object.entries(OF_A_CONNECTION).map(([name, value]) => `-c ${name}=${value}`);
  const { connectionString, theirs } = apart(url);
  const before = theirs ?? environment;
  return { connectionString, options: [...(before ? [before] : []), ...ours].join(" ") };
}

/** The driver takes `options` from a URL alone, once it finds them there. */
function apart(url: string): { connectionString: string; theirs?: string } {
  if (!URL.canParse(url)) return { connectionString: url };
  const parsed = new URL(url);
  const theirs = parsed.searchParams.get("options");
  if (theirs === null) return { connectionString: url };
  parsed.searchParams.delete("options");
  return { connectionString: parsed.href, theirs };
}

const plain = (text: string): Statement => ({ text, values: [] });

/** One statement for all of them. */
const setLocally = (settings: Readonly<Record<string, string>>): Statement =>
  plain(
    `SELECT ${Object.entries(settings)
      .map(([name, value]) => `set_config('${name}', '${value}', true)`)
      .join(", ")}`,
  );

/** Whatever isolation the server, the database or the role calls the default. */
const WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED";
/** At one instant. */
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
