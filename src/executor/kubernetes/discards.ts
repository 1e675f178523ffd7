/**
 * Deletes unneeded pods in the background. A pod that cannot be deleted after some tries is left to the
 * sweep.
 */
import { sleep } from "../../env/timers.ts";
import type { Pacing } from "./pacing.ts";
import { pauseAfter } from "./pacing.ts";
import type { PodApi } from "./pod-api.ts";
import type { PodEvent } from "./pod-event.ts";

const TRIES = 8;

interface DiscardOptions {
  readonly graceSeconds: number;
  readonly pacing: Pacing;
  readonly tell: (event: PodEvent) => void;
}

export class Discards {
  readonly #options: DiscardOptions;
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: DiscardOptions) {
    this.#options = options;
  }

  add(api: PodApi, namespace: string, name: string): void {
    const one = this.#delete(api, namespace, name).finally(() => this.#underWay.delete(one));
    this.#underWay.add(one);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #delete(api: PodApi, namespace: string, name: string): Promise<void> {
    const { graceSeconds, pacing, tell } = this.#options;
    const always = new AbortController().signal;
    for (let tries = 1; tries <= TRIES; tries += 1) {
      try {
        await api.delete(namespace, name, graceSeconds);
        tell({ kind: "deleted", namespace, pod: name });
        return;
      } catch (error) {
        tell({ kind: "away", reason: (error as Error).message, failures: tries });
        await sleep(pauseAfter(tries, pacing, Math.random()), always);
      }
    }
  }
}
