// Workers in separate processes, as a test sees them.

import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { onTestFinished } from "vitest";
import { plainModule } from "./plain-module.ts";
import type { Said, WorkerOrder } from "./worker-process.ts";

const MAIN = new URL("./worker-process.ts", import.meta.url);

export class WorkerProcess {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #said: Said[] = [];
  readonly #exit: Promise<string>;
  #errors = "";
  #look: () => void = () => {};

  constructor(main: string, order: WorkerOrder) {
    this.name = order.name;
    this.#child = fork(main, [JSON.stringify(order)], {
      execArgv: [],
      stdio: ["ignore", "inherit", "pipe", "ipc"],
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors += text;
    });
    this.#child.on("message", (said: Said) => {
      this.#said.push(said);
      this.#look();
    });
    this.#exit = new Promise((resolve) => {
      this.#child.once("exit", (code, signal) => {
        resolve(signal ?? `code ${code}`);
        this.#look();
      });
    });
  }

  /** Resolves once it has loaded and connected. */
  async prepared(): Promise<void> {
    await this.#until(({ kind }) => kind === "prepared");
  }

  /** Starts the work and returns its session. */
  async go(): Promise<string> {
    this.#child.send("go");
    const said = await this.#until(({ kind }) => kind === "working");
    return (said as { session: string }).session;
  }

  /** The events it reported: errors, refused reports, ended sessions. */
  get events(): Extract<Said, { kind: "event" }>[] {
    return this.#said.filter((said) => said.kind === "event");
  }

  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child.kill("SIGCONT");
  }

  /** Stops it gracefully. Returns how it ended: "code 0" if all was well. */
  async stop(): Promise<string> {
    this.#child.send("stop");
    return this.#exit;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await this.#exit;
  }

  #until(isIt: (said: Said) => boolean): Promise<Said> {
    return new Promise((resolve, reject) => {
      this.#look = () => {
        const said = this.#said.find(isIt);
        if (said) resolve(said);
        else if (this.#child.exitCode !== null || this.#child.signalCode !== null)
          reject(new Error(`worker ${this.name} ended early:\n${this.#errors}`));
      };
      this.#look();
    });
  }
}

/** A worker that is ready to go. It ends with the test at the latest. */
export async function prepareWorker(order: WorkerOrder): Promise<WorkerProcess> {
  const worker = new WorkerProcess(await plainModule(MAIN), order);
  onTestFinished(() => worker.kill());
  await worker.prepared();
  return worker;
}

/** Several workers with the same order. */
export function prepareWorkers(
  names: readonly string[],
  order: Omit<WorkerOrder, "name">,
): Promise<WorkerProcess[]> {
  return Promise.all(names.map((name) => prepareWorker({ ...order, name })));
}
