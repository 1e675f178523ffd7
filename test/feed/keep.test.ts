// A reader can resume for its whole keep time after it stopped: at whatever moment it stopped, and also if it
// was killed, or was slow to read.

import { describe, expect, test } from "vitest";
import { Sluice } from "../../src/api/sluice.ts";
import { openMemory } from "../../src/store/memory/index.ts";
import { FakeEnv } from "../../src/testing/fake-env.ts";
import { newTask } from "../../src/testing/store-suite/bench.ts";

const SECOND = 1_000;

/** Each process has timers of its own. All share the store's clock. A process that was killed makes no call. */
function world() {
  const env = new FakeEnv();
  const store = openMemory({ now: env.clock.now });
  return {
    env,
    store,
    reader: new Sluice(store, undefined, env),
    other: new Sluice(store, undefined, new FakeEnv(env.clock)),
    /** The reader is dead, and another worker polls. */
    async pass(ms: number): Promise<void> {
      for (let left = ms; left > 0; left -= SECOND) {
        env.clock.advance(Math.min(SECOND, left));
        await store.tend();
      }
    },
  };
}

async function firstAfter(sluice: Sluice, keep: string, after: string): Promise<string> {
  for await (const { subject } of sluice.changes({ keep, after })) return subject;
  throw new Error("the feed ended");
}

describe.each([
  ["30s", 30 * SECOND],
  ["10m", 600 * SECOND],
])("with keep %s", (keep, keepMs) => {
  test.each([0, 1, 9_999, 19_999, 29_999, 55_000, 199_999, 599_000])(
    "a reader that is killed after %i ms resumes until its keep time is over",
    async (lived) => {
      const { env, store, reader, other, pass } = world();
      const feed = reader.changes({ keep });
      const begun = feed.begin();
      await env.settle();
      await begun;
      await env.advance(lived);
      await store.enqueue([newTask("last")]);
      await env.advance(20);
      const reading = feed[Symbol.asyncIterator]();
      const last = (await reading.next()).value?.cursor as string;
      await store.enqueue([newTask("next")]);
      await pass(keepMs);
      expect(await firstAfter(other, keep, last)).toBe("next");
    },
  );

  test("a reader that is killed after it was slow resumes where it was", async () => {
    const { env, store, reader, other, pass } = world();
    const feed = reader.changes({ keep });
    const begun = feed.begin();
    await env.settle();
    await begun;
    await store.enqueue([newTask("first"), newTask("second")]);
    await env.advance(SECOND);
    const reading = feed[Symbol.asyncIterator]();
    await reading.next();
    // It works on the first change for twice its keep time. Meanwhile others write, and the feed is swept.
    for (let written = 0; written < 20; written += 1) {
      await env.advance(keepMs / 10);
      await store.enqueue([newTask(`later${written}`)]);
      await store.tend();
    }
    const cursor = feed.cursor as string;
    await pass(keepMs);
    expect(await firstAfter(other, keep, cursor)).toBe("first");
  });
});
