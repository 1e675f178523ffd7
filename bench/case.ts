import type { Row } from "./table.ts";

/** What every case is given: the one server of this run, and how large to be. */
export interface Setting {
  readonly postgresUrl: string;
  /** The PostgreSQL that this machine's distribution brings, with LLVM; null when there is none. */
  readonly installedUrl: string | null;
  /** Null when there is no redis-server on this machine. */
  readonly redisUrl: string | null;
  /** A count of tasks, divided by 5 under --quick. */
  scaled(tasks: number): number;
  /** How often to measure for a median. */
  readonly runs: number;
}

export interface Case {
  /** What --only selects by; a row that could not be measured carries this name too. */
  readonly name: string;
  /** In how many rounds it takes part; in all of them unless said otherwise. */
  readonly rounds?: number;
  run(setting: Setting): Promise<Row[]>;
}
