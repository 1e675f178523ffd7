/**
 * Measures how busy the machine is, for every check that depends on the clock. A machine that wakes us much
 * too late wakes others too late as well. And if many threads compete for each processor, work takes several
 * times as long although it is woken in time. Neither is the product's fault.
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Impairment } from "../history.ts";

const EVERY_MS = 50;
const LATE_MS = 250;
/** The number of samples of the run queue in one judgement. */
const LOOKS = 5;
/** With this many ready threads per processor, nothing keeps its pace. */
const CROWD = 6;

export class Ear {
  readonly noise: Impairment[] = [];
  readonly #timer: NodeJS.Timeout;
  #last = Date.now();
  #looks: { readonly at: number; readonly ready: number }[] = [];

  constructor(readyNow: () => number = ready) {
    this.#timer = setInterval(() => this.listen(Date.now(), readyNow()), EVERY_MS);
  }

  listen(now: number, readyNow: number): void {
    if (now - this.#last > LATE_MS) this.#note(this.#last, now);
    this.#last = now;
    this.#looks.push({ at: now, ready: readyNow });
    if (this.#looks.length < LOOKS) return;
    const mean = this.#looks.reduce((sum, each) => sum + each.ready, 0) / LOOKS;
    if (mean >= CROWD * availableParallelism())
      this.#note((this.#looks[0] as { at: number }).at - EVERY_MS, now);
    this.#looks = [];
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #note(from: number, to: number): void {
    this.noise.push({ pid: 0, why: "noise", from, to });
  }
}

/** How many threads of the whole machine run or could run right now, not counting ours. */
function ready(): number {
  return Number(/(\d+)\//.exec(readFileSync("/proc/loadavg", "utf8"))?.[1] ?? 1) - 1;
}
