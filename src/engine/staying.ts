/**
 * Keeps the process alive while a service runs. No other timer of ours does, and a store in this process has
 * no connection that would: without this, a program that only starts a worker would end at once.
 */
import type { Cancel, Env } from "../env/env.ts";
import type { Service, StopOptions } from "./service.ts";

/** The timer does nothing. It is set again each time it fires. */
const AGAIN_MS = 24 * 60 * 60 * 1_000;

export class Staying implements Service {
  readonly #env: Env;
  readonly #inner: Service;
  #letGo: Cancel | undefined;

  constructor(env: Env, inner: Service) {
    this.#env = env;
    this.#inner = inner;
  }

  async start(): Promise<void> {
    this.#stay();
    try {
      await this.#inner.start();
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  /** The process stays until nothing of the service runs any more. */
  async stop(options?: StopOptions): Promise<void> {
    try {
      await this.#inner.stop(options);
    } finally {
      this.#leave();
    }
  }

  #stay(): void {
    this.#letGo = this.#env.after(AGAIN_MS, () => this.#stay(), { keepsAlive: true });
  }

  #leave(): void {
    this.#letGo?.();
    this.#letGo = undefined;
  }
}
