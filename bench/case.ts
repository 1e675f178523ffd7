import type { Row } from "./table.ts";

/** The setting of every case: the servers of this run, and how large to be. */
export interface Setting {
  readonly postgresUrl: string;
  /** The PostgreSQL of this machine's distribution, built with LLVM. Null if there is none. */
  readonly installedUrl: string | null;
  /** Null if this machine has no redis-server. */
  readonly redisUrl: string | null;
  /** Scales a number of tasks: divided by 5 under --quick. */
  scaled(tasks: number): number;
  /** How many measurements a median is taken from. */
  readonly runs: number;
}

export interface Case {
  /** The name for --only. If the case cannot be measured, its row has this name, too. */
  readonly name: string;
  /** The number of rounds it takes part in. Default: all. */
  readonly rounds?: number;
  run(setting: Setting): Promise<Row[]>;
}
