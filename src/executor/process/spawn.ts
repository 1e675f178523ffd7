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
  /** Flags for Node. Default: those of this process. */
  readonly execArgv?: readonly string[] | undefined;
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** How long a child may take to become ready. Unbounded if absent. */
  readonly loadMs?: number | undefined;
  /** Gets each line that a child prints. If absent, children print to the output of this process. */
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
    // The last one is the lifeline.
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
