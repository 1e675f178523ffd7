// Processes that want the same mutex, and the resource that it protects. The resource believes nobody: it takes a
// write only if it has seen no higher fence, as an outside system would.

import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { onTestFinished } from "vitest";
import { plainModule } from "../../support/plain-module.ts";

type Question =
  | { readonly kind: "granted" | "read" | "released"; readonly fence: number }
  | { readonly kind: "write"; readonly fence: number; readonly value: number };

export class Resource {
  value = 0;
  /** The fences of all grants, in the order in which they were told. */
  readonly granted: number[] = [];
  readonly accepted: number[] = [];
  refused = 0;
  #highest = 0;

  answer(question: Question): object {
    const { fence } = question;
    if (question.kind === "granted") this.granted.push(fence);
    if (fence < this.#highest) {
      if (question.kind === "write") this.refused += 1;
      return {};
    }
    if (question.kind === "released") return {};
    this.#highest = fence;
    if (question.kind === "write") {
      this.accepted.push(fence);
      this.value = question.value;
    }
    return { value: this.value };
  }
}

/** One place among the rivals. If its process is killed, another one takes the place and what is left to do. */
export class Rival {
  readonly #start: (rounds: number) => ChildProcess;
  readonly #resource: Resource;
  #child: ChildProcess | undefined;
  #left: number;
  readonly done: Promise<void>;
  #resolve: () => void = () => {};
  #reject: (error: Error) => void = () => {};
  #isKilled = false;

  constructor(start: (rounds: number) => ChildProcess, resource: Resource, rounds: number) {
    this.#start = start;
    this.#resource = resource;
    this.#left = rounds;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#run();
  }

  /** kill -9. False if it is done. */
  kill(): boolean {
    if (this.#left === 0) return false;
    this.#isKilled = true;
    return this.#child?.kill("SIGKILL") ?? false;
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(signal);
  }

  end(): void {
    this.#child?.removeAllListeners();
    this.#child?.kill("SIGKILL");
  }

  #run(): void {
    const child = this.#start(this.#left);
    this.#child = child;
    this.#isKilled = false;
    child.on("message", (question: Question) => {
      if (question.kind === "released") this.#left -= 1;
      const answer = this.#resource.answer(question);
      if (child.connected) child.send(answer, () => {});
    });
    child.on("exit", (code) => {
      if (this.#left === 0) this.#resolve();
      else if (this.#isKilled) this.#run();
      else this.#reject(new Error(`a process ended with ${code} and ${this.#left} rounds left`));
    });
  }
}

export async function rivals(
  url: string,
  { processes, rounds, lease }: { processes: number; rounds: number; lease: string },
): Promise<{ resource: Resource; all: Rival[] }> {
  const script = await plainModule(new URL("./rival-child.ts", import.meta.url));
  const resource = new Resource();
  const start = (left: number): ChildProcess => fork(script, [url, String(left), lease], { execArgv: [] });
  const all = Array.from({ length: processes }, () => new Rival(start, resource, rounds));
  onTestFinished(() => {
    for (const rival of all) rival.end();
  });
  return { resource, all };
}
