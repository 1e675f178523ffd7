import type { Row } from "./row.ts";
import type { Server, ServerName } from "./servers.ts";

/** The setting of every case: the servers of this run, and how large to be. */
export interface Setting {
  /** A running server. Fails in words if this machine lacks it. */
  server(name: ServerName): Promise<Server>;
  /** Scales a number of tasks to the size of this run. */
  scaled(tasks: number): number;
  /** Scales the length of a phase that has a length in time. */
  lasting(ms: number): number;
  /** How long the sustained run lasts. It is not scaled, because `--sustained` sets it. */
  readonly sustainedMs: number;
}

export interface Case {
  /** The name for --only. If the case cannot be measured, its row has this name, too. */
  readonly name: string;
  /** The number of rounds it takes part in. Default: all. */
  readonly rounds?: number;
  /** Part of --quick. */
  readonly quick?: boolean;
  run(setting: Setting): Promise<Row[]>;
}
