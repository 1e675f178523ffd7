/**
 * A store under test, as somebody sees it who knows its tables and nothing of the product: a database of our own that
 * can be looked into, crashed and taken away.
 */
import type { Watch } from "../proxy/watch.ts";

/** `installed`: the PostgreSQL that this machine's distribution brings. */
export type StoreName = "postgres" | "installed" | "mariadb" | "sqlite";

export type Row = Record<string, unknown>;

export interface Place {
  readonly store: StoreName;
  /** What processes are given; they meet the database through lines where there is a wire. */
  readonly url: string;
  /** Understands what passes on a line; undefined where there is no wire. */
  readonly newWatch: (() => Watch) | undefined;
  /** One statement on a connection of our own, tried again while the database is away. */
  sql(text: string): Promise<Row[]>;
  /** Plants the audit, once the tables are there. */
  plant(): Promise<void>;
  /** The audit's lines in the order of their commits. */
  audit(): Promise<Row[]>;
  /** SQL of the clock that leases are judged by. */
  leaseNow(): string;
  /** What is added to a time of that clock to have wall time. */
  readonly leaseToWall: number;
  /** Ends the database in the middle of everything and starts it again; undefined where there is nothing to end. */
  readonly crash: (() => Promise<void>) | undefined;
  /** Takes the store away, until the answer is called. */
  takeAway(): Promise<() => Promise<void>>;
  /** How many transactions somebody holds open. */
  openTransactions(): Promise<number>;
  /** What the server itself wrote; undefined where there is none. */
  readonly serverLog: string | undefined;
  close(): Promise<void>;
}
