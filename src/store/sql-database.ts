import type { Hear, Hint } from "../core/hint.ts";
import type { Database, Flow } from "./flow.ts";
import type { Dialect } from "./sql.ts";

/** What a database adds to flows: its schema, wake-ups, and a caller's own transaction. */
export interface SqlDatabase extends Database {
  readonly dialect: Dialect;
  /** Its URL or path; shown without a password. */
  readonly where: string;
  migrate(): Promise<void>;
  verify(): Promise<void>;
  listen(hear: Hear): Promise<() => Promise<void>>;
  hint(hint: Hint): void;
  /** Runs a flow inside a transaction of the caller's. */
  within?<T>(transaction: unknown, flow: () => Flow<T>): Promise<T>;
  /** What it stands on and SQL cannot tell. */
  ground?(): Record<string, string>;
  /** Housekeeping after so many claims; must never fail the caller. */
  upkeep?(claims: number): void;
}
