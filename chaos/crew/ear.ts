/**
 * Hears how noisy the machine is, for everything that is judged by the clock. A machine that wakes us much too late wakes
 * others too late as well; and where many want each processor, whoever has work to do does it several times as slowly,
 * though it is woken in time. Neither is the doing of the product.
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Impairment } from "../history.ts";

const EVERY_MS = 50;
const LATE_MS = 250;
/** So many looks at the line for the processors make one judgement. */
const LOOKS = 5;
/** With so many for each of them, nothing keeps its pace. */
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

/** How many threads of the whole machine run or could run right now; ourselves not counted. */
function ready(): number {
  return Number(/(\d+)\//.exec(readFileSync("/proc/loadavg", "utf8"))?.[1] ?? 1) - 1;
}
