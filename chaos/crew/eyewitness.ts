/** The supervisor's handle to the witness's process. */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../witness.ts", import.meta.url));

export interface Insider {
  readonly id: string;
  /** True if its code ignores its signal. */
  readonly deaf: boolean;
  /** Its process and that process's parent. */
  readonly pids: readonly number[];
  /** True if a holder with a newer token for the same task has been there since. */
  readonly overtaken: boolean;
}

export class Eyewitness {
  readonly socket: string;
  readonly log: string;
  readonly #process: ChildProcess;

  private constructor(folder: string) {
    this.socket = join(folder, "witness.sock");
    this.log = join(folder, "witness.jsonl");
    this.#process = spawn(process.execPath, ["--import", "tsx", PROGRAM, this.socket, this.log], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
  }

  static async open(folder: string): Promise<Eyewitness> {
    const witness = new Eyewitness(folder);
    await once(witness.#process, "message");
    return witness;
  }

  /** The tasks whose code is inside right now. */
  async inside(): Promise<readonly Insider[]> {
    const answer = once(this.#process, "message") as Promise<[Insider[]]>;
    this.#process.send("inside");
    return (await answer)[0];
  }

  /** Resolves when the log is complete. */
  async end(): Promise<void> {
    const gone = once(this.#process, "exit");
    this.#process.send("end");
    await gone;
  }
}
