/**
 * Services that make up one: they start one after the other, in their order, and stop all at once. If one cannot start,
 * all are stopped, because nobody else knows of those that have started.
 */
import type { Service, StopOptions } from "./service.ts";

export class Services implements Service {
  readonly #all: readonly Service[];
  readonly #stopped: () => Promise<void>;

  /** `stopped` follows once all have stopped: it ends what they shared. */
  constructor(all: readonly Service[], stopped: () => Promise<void> = async () => {}) {
    this.#all = all;
    this.#stopped = stopped;
  }

  async start(): Promise<void> {
    try {
      for (const service of this.#all) await service.start();
    } catch (error) {
      await this.stop({ graceMs: 0 }).catch(() => {});
      throw error;
    }
  }

  /** None waits for another: a store that does not answer must not keep a worker from ending what it runs. */
  async stop(options?: StopOptions): Promise<void> {
    await Promise.all(this.#all.map((service) => service.stop(options)));
    await this.#stopped();
  }
}
