// Puts tasks in line while workers run: as fast as they go, or at a given rate.
import type { Sluice } from "../../src/index.ts";
import { now, percentile } from "../measure.ts";
import type { Work } from "./app.ts";

export type Manner =
  /** In transactions of `size` tasks, so that `ahead` tasks wait. */
  | { readonly batches: { readonly size: number; readonly ahead: number } }
  /** One task per call by `callers` that each wait for their own answer, so that at most `ahead` tasks wait. */
  | { readonly singles: { readonly callers: number; readonly ahead: number } }
  /** One task per call, `rate` a second, whether or not earlier calls were answered. */
  | { readonly paced: { readonly rate: number } };

export interface Fed {
  readonly sent: number;
  /** Paced only: how late the latest hundredth of the calls was made, in milliseconds. */
  readonly lateMs: number | null;
}

const TICK_MS = 1;

export class Feed {
  readonly #sluice: Sluice;
  readonly #work: Work;
  #sent = 0;
  #done = 0;
  #resting = true;
  #working: Promise<void> = Promise.resolve();
  #late: number[] = [];

  constructor(sluice: Sluice, work: Work) {
    this.#sluice = sluice;
    this.#work = work;
  }

  /** How many tasks of this feed the workers have run. */
  done(count: number): void {
    this.#done = count;
  }

  start(manner: Manner): void {
    this.#resting = false;
    this.#late = [];
    if ("batches" in manner) this.#working = this.#inBatches(manner.batches);
    else if ("singles" in manner) this.#working = this.#inSingles(manner.singles);
    else this.#working = this.#atRate(manner.paced.rate);
  }

  /** Resolves when every call was answered. */
  async rest(): Promise<Fed> {
    this.#resting = true;
    await this.#working;
    return { sent: this.#sent, lateMs: this.#late.length > 0 ? percentile(this.#late, 0.99) : null };
  }

  async #inBatches({ size, ahead }: { size: number; ahead: number }): Promise<void> {
    while (!this.#resting) {
      if (this.#sent - this.#done + size > ahead) await tick();
      else {
        const calls = Array.from({ length: size }, () => ({ task: this.#work, input: this.#input() }));
        await this.#sluice.enqueueMany(calls);
      }
    }
  }

  async #inSingles({ callers, ahead }: { callers: number; ahead: number }): Promise<void> {
    const loop = async (): Promise<void> => {
      while (!this.#resting) {
        if (this.#sent - this.#done >= ahead) await tick();
        else await this.#call();
      }
    };
    await Promise.all(Array.from({ length: callers }, loop));
  }

  async #atRate(rate: number): Promise<void> {
    const answers = new Set<Promise<unknown>>();
    const started = now();
    for (let made = 0; !this.#resting; await tick()) {
      for (const due = ((now() - started) * rate) / 1_000; made < due; made += 1) {
        this.#late.push(now() - started - (made * 1_000) / rate);
        const answer: Promise<unknown> = this.#call().finally(() => answers.delete(answer));
        answers.add(answer);
      }
    }
    await Promise.all(answers);
  }

  #call(): Promise<unknown> {
    return this.#sluice.enqueue(this.#work, this.#input());
  }

  #input(): { n: number; at: number } {
    this.#sent += 1;
    return { n: this.#sent, at: now() };
  }
}

const tick = (): Promise<void> => new Promise((next) => setTimeout(next, TICK_MS));
