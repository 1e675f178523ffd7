// Our end of keeper.mjs: sends it programs to run and receives their exit codes.

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Interface } from "node:readline";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Account } from "./account.ts";

export class Keeper {
  readonly #process: ChildProcess;
  readonly #answers: Interface;
  readonly log: string;

  constructor(folder: string, account: Account | undefined, stopSignal: NodeJS.Signals) {
    this.log = join(folder, "server.log");
    const program = fileURLToPath(new URL("keeper.mjs", import.meta.url));
    const order = JSON.stringify({ folder, log: this.log, stopSignal, ...account });
    this.#process = spawn(process.execPath, [program, order], {
      cwd: "/",
      // The test runner's flags and preloads are not for the keeper or its servers.
      env: { PATH: process.env.PATH, LC_ALL: "C" },
      stdio: ["pipe", "pipe", "inherit"],
      // Not in the terminal's group: Ctrl-C is for us, and the keeper only watches the pipe.
      detached: true,
    });
    this.#answers = createInterface({ input: must(this.#process.stdout) });
  }

  /** Runs a program as the server's user. Resolves with its exit code when it ends. */
  async run(command: string, args: readonly string[]): Promise<string> {
    const answer = once(this.#answers, "line");
    must(this.#process.stdin).write(`${JSON.stringify({ command, args })}\n`);
    const [line] = await answer;
    return String(line).replace("exit ", "");
  }

  /** Sends a signal to the running program. */
  signal(signal: NodeJS.Signals): void {
    must(this.#process.stdin).write(`${JSON.stringify({ signal })}\n`);
  }

  /** The last lines that the programs wrote. */
  complaint(): string {
    return readFileSync(this.log, "utf8").trim().split("\n").slice(-60).join("\n");
  }

  /** Lets our process exit while the server runs. The keeper then cleans up. */
  unref(): void {
    this.#process.unref();
    for (const pipe of [this.#process.stdin, this.#process.stdout]) (pipe as unknown as Pipe).unref();
  }

  /** Stops the running program and removes the folder. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.ref();
    const ended = once(this.#process, "exit");
    must(this.#process.stdin).end();
    await ended;
  }
}

/** A child's pipes are sockets, which the types do not say. */
interface Pipe {
  unref(): void;
}

function must<T>(pipe: T | null): T {
  if (pipe === null) throw new Error("the keeper was started without its pipes");
  return pipe;
}
