/**
 * Several services as one. They start one after the other, in order, and stop all at once. If one cannot
 * start, all are stopped, because the caller does not know which of them have started.
 */
import type { Service, StopOptions } from "./service.ts";

export class Services implements Service {
  readonly #all: readonly Service[];
  readonly #stopped: () => Promise<void>;

  /** `stopped` runs once all have stopped, and ends what they shared. */
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

  /** No service waits for another: a store that does not answer must not keep a worker from ending its tasks. */
  async stop(options?: StopOptions): Promise<void> {
    await Promise.all(this.#all.map((service) => service.stop(options)));
    await this.#stopped();
  }
}
