/** The options that `dev` and `worker` share. */
import type { Command } from "commander";
import { names } from "./numbers.ts";
import type { GlobalOptions } from "./settings.ts";

export interface ServeOptions extends GlobalOptions {
  readonly queues?: readonly string[];
  readonly grace: string;
  readonly stopGrace: string;
  readonly processes?: number;
  readonly concurrency?: number;
  readonly maxClaimBatch?: number;
  readonly maxClaimPerWorker?: number;
}

export function addServeOptions(command: Command): Command {
  return command
    .argument("<app>", "the app file, TypeScript or JavaScript")
    .option("--queues <names>", "which queues to serve, like stripe,email (default: all)", names)
    .option("--grace <duration>", "how long stopping may take; tasks that run longer are aborted", "30s")
    .option(
      "--stop-grace <duration>",
      "how long code in a child process may take to end after a cancel or timeout before its process is killed, with all tasks in it",
      "5s",
    );
}
