// A world in the hands of a test whose stores are real: what they are asked takes as long as it takes, and time stands
// still meanwhile.

import { FakeEnv } from "../../../src/testing/fake-env.ts";

export class PatientEnv extends FakeEnv {
  readonly #underway = new Set<Promise<unknown>>();

  /** Nothing has settled before this is done. */
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

  /** Lets time pass in steps. What comes due within one is called at once, by all processes that wait for it. */
  async pass(ms: number, stepMs = 1_000): Promise<void> {
    await this.settle();
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.freeze(stepMs);
      this.thaw();
      await this.settle();
    }
  }
}
