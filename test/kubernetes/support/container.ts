// Does what a node does with a pod: runs `sluice step` as a process, with the pod's environment.

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { StepMessage } from "../../../src/executor/kubernetes/step-message.ts";
import { builtCli, top } from "../../support/built-cli.ts";
import type { ClusterPod } from "../../support/kube-cluster.ts";

const main = await builtCli();

const APP = `
import { defineApp, RetryAfter, task } from ${JSON.stringify(join(top, "dist/index.js"))};
export default defineApp({
  tasks: [
    task({
      id: "double",
      run: ({ n }, { id, attempt, fence, log, progress }) => {
        process.stdout.write("no end of line");
        log("doubling", { n });
        progress({ done: 1 });
        return { doubled: n * 2, id, attempt, fence };
      },
    }),
    task({ id: "fails", run: () => { throw Object.assign(new TypeError("too small"), { retryable: false }); } }),
    task({ id: "busy", retry: { when: (error) => error instanceof RangeError }, run: ({ wait }) => { if (wait) throw new RetryAfter(wait); throw new TypeError("no use"); } }),
    task({ id: "breaks", run: () => new Promise(() => { setTimeout(() => { throw new Error("nobody caught this"); }); }) }),
    task({ id: "lingers", run: () => { setInterval(() => {}, 1_000); return "done"; } }),
    task({ id: "large", run: () => "x".repeat(2_000_000) }),
    task({
      id: "waits",
      run: (_, { log, signal }) =>
        new Promise((_, reject) => {
          const alive = setInterval(() => {}, 1_000);
          signal.addEventListener("abort", () => { clearInterval(alive); reject(signal.reason); });
          log("waiting");
        }),
    }),
  ],
});
`;

export class Container {
  readonly #child: ChildProcess;
  readonly exited: Promise<number | null>;
  log = "";
  #listeners: (() => void)[] = [];

  constructor(env: Readonly<Record<string, string>>, args: readonly string[] = []) {
    const folder = mkdtempSync(join(tmpdir(), "sluice-step-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "app.ts"), APP);
    this.#child = spawn(process.execPath, [main, "step", ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void this.#child.kill("SIGKILL"));
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.log += text;
        for (const listener of this.#listeners) listener();
      });
    this.exited = new Promise((resolve) => this.#child.once("close", resolve));
  }

  static of(pod: ClusterPod): Container {
    const [container] = pod.spec.containers as { env: { name: string; value: string }[] }[];
    return new Container(Object.fromEntries(container?.env.map(({ name, value }) => [name, value]) ?? []));
  }

  static told(message: Partial<StepMessage>): Container {
    const whole = {
      id: "u1",
      input: "{}",
      attempt: 1,
      fence: 7,
      timeoutMs: null,
      run: "r1",
      step: "s",
      ...message,
    };
    return new Container({ SLUICE_STEP: JSON.stringify(whole) });
  }

  said(text: string): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.log.includes(text)) resolve();
      };
      this.#listeners.push(look);
      look();
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}
