/** How a child process is started: its channel, its lifeline, and where it prints. */
import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { LIFELINE_FD } from "./lifeline.ts";

export interface SpawnOptions {
  /** The module that calls `serveParent`. */
  readonly entry: URL | string;
  readonly argv?: readonly string[] | undefined;
  /** Flags for Node; those of this process unless given. */
  readonly execArgv?: readonly string[] | undefined;
  /** That of this process unless given. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** How long a child may take to become ready; no bound unless given. */
  readonly loadMs?: number | undefined;
  /** Told each line that a child prints. Without it, children print where this process does. */
  readonly onLine?: ((line: ChildLine) => void) | undefined;
}

export interface ChildLine {
  readonly pid: number;
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

export function spawn({ entry, argv = [], execArgv, env, onLine }: SpawnOptions): ChildProcess {
  const output = onLine ? "pipe" : "inherit";
  const child = fork(entry, argv, {
    ...(execArgv ? { execArgv: [...execArgv] } : {}),
    ...(env ? { env } : {}),
    serialization: "advanced",
    // The last is the lifeline.
    stdio: ["ignore", output, output, "ipc", "pipe"],
  });
  if (onLine)
    for (const stream of ["stdout", "stderr"] as const)
      createInterface({ input: child[stream] as Readable }).on("line", (text) =>
        onLine({ pid: child.pid as number, stream, text }),
      );
  return child;
}

export const lifelineOf = (child: ChildProcess | undefined): Writable | undefined =>
  (child?.stdio?.[LIFELINE_FD] ?? undefined) as Writable | undefined;
