import type { Hear, Hint } from "../core/hint.ts";
import type { Database, Flow } from "./flow.ts";
import type { Dialect } from "./sql.ts";

/** A database that runs flows, with its schema, hints, and the caller's own transaction. */
export interface SqlDatabase extends Database {
  readonly dialect: Dialect;
  /** Its URL or path. It is shown without the password. */
  readonly where: string;
  migrate(): Promise<void>;
  verify(): Promise<void>;
  listen(hear: Hear): Promise<() => Promise<void>>;
  hint(hint: Hint): void;
  /** Runs a flow inside the caller's transaction. */
  within?<T>(transaction: unknown, flow: () => Flow<T>): Promise<T>;
  /** Facts about its environment that SQL cannot tell. */
  ground?(): Record<string, string>;
  /** Housekeeping after this many claims. It must never make the caller fail. */
  upkeep?(claims: number): void;
}
