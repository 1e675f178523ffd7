/** One worker process, seen from outside by its starter, which knows nothing of its inside. */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { signal } from "./children.ts";

export type WorkerState = "starting" | "up" | "busy" | "gone";

/** A worker that was undisturbed for this long has had time to start something worth disturbing. */
const SETTLED_MS = 1_200;

export class Worker {
  readonly pid: number;
  /** "busy" while a fault is at work on it, so that no other fault chooses it. */
  #state: WorkerState = "starting";
  #since = Date.now();
  readonly started = Date.now();
  wasUp = false;
  readonly up: Promise<boolean>;
  /** How it ended: an exit code, or the name of a signal. */
  readonly gone: Promise<string>;
  readonly #process: ChildProcess;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv, log: string) {
    this.#process = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    this.pid = this.#process.pid as number;
    const out = createWriteStream(log, { flags: "a" });
    out.write(`--- pid ${this.pid} at ${new Date().toISOString()}\n`);
    this.#process.stdout?.pipe(out, { end: false });
    this.#process.stderr?.pipe(out, { end: false });
    this.gone = new Promise((resolve) => {
      this.#process.once("exit", (code, how) => {
        this.state = "gone";
        out.write(`--- pid ${this.pid} ended: ${how ?? code}\n`);
        resolve(how ?? String(code));
      });
    });
    // The first output is its banner, which it prints when it works.
    const spoke = new Promise<boolean>((resolve) => this.#process.stdout?.once("data", () => resolve(true)));
    this.up = Promise.race([spoke, this.gone.then(() => false)]);
    void this.up.then((up) => {
      this.wasUp = up;
      if (up && this.state === "starting") this.state = "up";
    });
  }

  get state(): WorkerState {
    return this.#state;
  }

  set state(state: WorkerState) {
    if (this.#state === "gone") return;
    this.#state = state;
    this.#since = Date.now();
  }

  get isSettled(): boolean {
    return this.#state === "up" && Date.now() - this.#since >= SETTLED_MS;
  }

  signal(name: NodeJS.Signals): void {
    if (this.state !== "gone") signal(this.pid, name);
  }
}
