// A test-controlled environment for real stores: their calls take as long as they take, and time stands still
// meanwhile.

import { FakeEnv } from "../../../src/testing/fake-env.ts";

export class PatientEnv extends FakeEnv {
  readonly #underway = new Set<Promise<unknown>>();

  /** `settle` waits until this work is done. */
  during<T>(work: Promise<T>): Promise<T> {
    const done = work.finally(() => this.#underway.delete(done));
    this.#underway.add(done);
    return done;
  }

  override async settle(): Promise<void> {
    do {
      await Promise.allSettled(this.#underway);
      await super.settle();
    } while (this.#underway.size > 0);
  }

  /** Lets time pass in steps. All timers due within one step fire at once, in all waiting processes. */
  async pass(ms: number, stepMs = 1_000): Promise<void> {
    await this.settle();
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.freeze(stepMs);
      this.thaw();
      await this.settle();
    }
  }
}
