/**
 * A store under test, seen by a reader who knows its tables and nothing of the product: our own database,
 * which can be inspected, crashed and taken away.
 */
import type { Watch } from "../proxy/watch.ts";

/** `installed` is the PostgreSQL of this machine's distribution. */
export type StoreName = "postgres" | "installed" | "mariadb" | "sqlite";

export type Row = Record<string, unknown>;

export interface Place {
  readonly store: StoreName;
  /** The URL for processes. If there is a wire, they connect through lines. */
  readonly url: string;
  /** Creates a parser for the traffic on a line. Undefined if there is no wire. */
  readonly newWatch: (() => Watch) | undefined;
  /** Runs one statement on our own connection and retries while the database is away. */
  sql(text: string): Promise<Row[]>;
  /** Creates the audit, once the tables exist. */
  plant(): Promise<void>;
  /** The audit's rows in commit order. */
  audit(): Promise<Row[]>;
  /** SQL for the clock that leases are judged by. */
  leaseNow(): string;
  /** Added to a time of that clock to get wall time. */
  readonly leaseToWall: number;
  /**
   * Crashes the database in the middle of everything and starts it again. Undefined if there is no server.
   */
  readonly crash: (() => Promise<void>) | undefined;
  /** Takes the store away until the returned function is called. */
  takeAway(): Promise<() => Promise<void>>;
  /** The number of transactions that are held open. */
  openTransactions(): Promise<number>;
  /** The path of the server's log. Undefined if there is no server. */
  readonly serverLog: string | undefined;
  close(): Promise<void>;
}
