// `sluice worker` as a user runs it: the built command, its children, and an app whose tasks report to the
// witness.

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFailed, onTestFinished } from "vitest";
import { builtCli, top } from "../../support/built-cli.ts";
import { bundledCli, bundledPackage } from "../../support/bundled-package.ts";
import { childrenOf } from "../../support/processes.ts";

const WITNESS = fileURLToPath(new URL("../../support/witness.ts", import.meta.url));

/**
 * A task that does what its input says: waits until it may go, blocks its event loop, or dies with its process.
 * The same with one attempt, and a task that is deaf and runs out of its time.
 */
const appText = (port: number, rest: string): string => `
import { Visitor } from ${JSON.stringify(WITNESS)};
import { defineApp, task } from "sluice";
const visitor = Visitor.connect(${port}, String(process.pid));
const does = {
  queue: "work",
  run: async (input, { id, fence, attempt, signal }) =>
    (await visitor).visit({ id, queue: "work", pools: {}, epoch: fence }, async () => {
      if (input.die) process.kill(process.pid, "SIGKILL");
      // Its loop stands still, as it would at work; the processor is left to others.
      if (input.blockMs) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, input.blockMs);
      const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      if (input.hold) await Promise.race([(await visitor).hold(id), aborted]);
      return { pid: process.pid, attempt };
    }),
};
export const errand = task({ id: "errand", retry: { attempts: 9, delay: "10ms" }, ...does });
export const once = task({ id: "once", ...does });
export const hog = task({ id: "hog", queue: "work", timeout: "300ms", run: () => new Promise(() => {}) });
export default defineApp({ tasks: [errand, once, hog], queues: { work: {} }, session: { lease: "2s", heartbeat: "400ms" }, ${rest} });
`;

export interface Project {
  readonly folder: string;
  readonly app: string;
}

export function newProject(port: number, rest = ""): Project {
  const folder = mkdtempSync(join(tmpdir(), "sluice-worker-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "app.js"), appText(port, rest));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(bundledPackage(), join(folder, "node_modules/sluice"), "dir");
  return { folder, app: join(folder, "app.js") };
}

export class WorkerCommand {
  readonly #child: ChildProcess;
  readonly ended: Promise<number | string>;
  output = "";

  constructor(cli: string, { folder, app }: Project, args: readonly string[]) {
    this.#child = spawn(process.execPath, [cli, "worker", app, ...args], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    this.ended = new Promise((resolve) =>
      this.#child.once("close", (code, signal) => resolve(signal ?? (code as number))),
    );
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** The processes that run the app's code. */
  get children(): number[] {
    return childrenOf(this.pid);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

export async function startWorker(project: Project, ...args: string[]): Promise<WorkerCommand> {
  // An app in our own folder finds the package as it was built.
  const cli = await (project.folder === top ? builtCli() : bundledCli());
  const worker = new WorkerCommand(cli, project, args);
  onTestFailed(() => console.log(`Worker ${worker.pid} said:\n${worker.output}`));
  onTestFinished(async () => {
    worker.signal("SIGKILL");
    await worker.ended;
  });
  return worker;
}
