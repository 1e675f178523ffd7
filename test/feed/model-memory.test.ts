// The store in memory: eight writers take turns, two listeners listen, and one of them resumes by its cursor
// after each page. Time passes with the steps, for longer than a lease, so that claims are lost here too.

import { expect, test } from "vitest";
import { openMemory } from "../../src/store/memory/index.ts";
import type { Change } from "../../src/store/store.ts";
import { FakeClock } from "../../src/testing/clock.ts";
import { everything, heardSince } from "./heard.ts";
import { judge } from "./judge.ts";
import { declareTrigger, LEASE_MS, Writing } from "./writing.ts";

const STEPS = 250;
const STEP_MS = 20;

test("eight writers, two listeners, one of which goes on again and again", async () => {
  expect(STEPS * STEP_MS).toBeGreaterThan(1.5 * LEASE_MS);
  const clock = new FakeClock();
  const store = openMemory({ now: clock.now });
  await declareTrigger(store);
  const since = await store.follow([everything("steady"), everything("mortal 0")]);
  const writers = await Promise.all(Array.from({ length: 8 }, (_, n) => Writing.open(store, `w${n}`)));
  const mortal: Change[] = [];
  let from = { listener: "mortal 0", position: since };
  const goOn = async (life: number): Promise<void> => {
    const listener = `mortal ${life}`;
    expect(await store.resume(everything(listener), from)).toBe(true);
    await store.unfollow([from.listener]);
    const page = await store.changes({ after: from.position, limit: 40, listeners: [listener] });
    mortal.push(...page.changes);
    from = { listener, position: page.changes.at(-1)?.position ?? from.position };
  };
  for (let step = 1; step <= STEPS; step += 1) {
    await Promise.all(writers.map((writer) => writer.step()));
    await goOn(step);
    clock.advance(STEP_MS);
  }
  for (
    let life = STEPS + 1;
    (await store.changes({ after: from.position, limit: 1, listeners: [] })).more;
    life += 1
  )
    await goOn(life);
  const heard = await heardSince(store, "steady", since);
  expect(mortal).toEqual(heard);
  await judge(
    store,
    store.dump().task.map(({ id }) => id as string),
    heard,
  );
});
