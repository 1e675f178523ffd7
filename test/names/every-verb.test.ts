// Every public verb refuses odd IDs, names, cursors and numbers in words of our own, on every store, and a
// refused call disturbs nobody else. A verb that is not in the table fails the test.

import { expect, test } from "vitest";
import type { Sluice } from "../../src/index.ts";
import { connect } from "../../src/index.ts";
import { openMemory } from "../../src/store/memory/index.ts";
import { describeOn } from "../e2e/support/places.ts";
import { isClear } from "../fuzz/odd.ts";
import type { World } from "./verbs.ts";
import { app, foundVerbs, NO_TEXT, outcomeOf, VERBS, verbOf } from "./verbs.ts";

test("the table names every verb that there is", async () => {
  await using sluice = await connect({ store: openMemory(), app });
  const named = Object.entries(VERBS).map(([room, verbs]) => [room, Object.keys(verbs).sort()]);
  const found = Object.entries(foundVerbs(sluice)).map(([room, verbs]) => [room, verbs.sort()]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(named));
});

async function worldIn(sluice: Sluice): Promise<World> {
  await sluice.deploy();
  const [task, queued, over] = [
    await sluice.enqueue("echo", 1),
    await sluice.submit("flow", undefined),
    await sluice.submit("flow", undefined),
  ];
  await sluice.runs.cancel(over.id);
  return { task: task.id, queued: queued.id, over: over.id };
}

const isRefusal = (error: unknown): boolean =>
  error instanceof Error && isClear(error) && /^(BAD|UNKNOWN)_/.test(String(Reflect.get(error, "code")));

const said = (odd: unknown): string =>
  (typeof odd === "number" ? String(odd) : (JSON.stringify(odd) ?? String(odd))).slice(0, 60);

/** Calls each verb with one odd argument at a time. Returns the calls that were not refused as they should be. */
async function stray(sluice: Sluice, world: World): Promise<string[]> {
  const bad: string[] = [];
  for (const [room, verbs] of Object.entries(VERBS))
    for (const [verb, given] of Object.entries(verbs))
      for (const [at, { odd }] of given.entries())
        for (const each of odd) {
          const all = given.map((argument, index) => (index === at ? each : argument.valid(world)));
          const error = await outcomeOf(() => verbOf(sluice, room, verb)(...all));
          if (!isRefusal(error))
            bad.push(`${room}.${verb}, argument ${at}, ${said(each)}: ${String(error).slice(0, 120)}`);
        }
  return bad;
}

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("every verb refuses odd arguments, and nobody else notices", async () => {
    await using sluice = await connect({ store: await place.open(), app, migrate: true });
    const world = await worldIn(sluice);
    const waiting = sluice.ended(world.task);
    waiting.catch(() => {});
    const listening = sluice.changes();
    await listening.begin();
    expect(await stray(sluice, world)).toEqual([]);
    expect((await sluice.get(world.task))?.state).toBe("waiting");
    await sluice.cancel(world.task);
    expect((await waiting).state).toBe("cancelled");
  });

  test("a declaration with an odd name is refused, whatever it names, and declares nothing", async () => {
    await using sluice = await connect({ store: await place.open(), app, migrate: true });
    await sluice.deploy();
    const before = await sluice.limits.list();
    for (const odd of NO_TEXT.filter((each) => each !== null))
      for (const declared of [
        { app: odd },
        { queues: [{ name: odd, rank: null }] },
        { gates: [{ key: odd, limit: 1, line: "skip" }] },
        { triggers: [{ name: odd, kind: "sensor", workflow: null, spec: "{}" }] },
        { triggers: [{ name: "sensor a", kind: "sensor", workflow: odd, spec: "{}" }] },
      ]) {
        const declaration = { app: "odd", queues: [], gates: [], ...declared };
        const error = await outcomeOf(() => sluice.store.declare(declaration as never));
        expect([said(declared), isRefusal(error)]).toEqual([said(declared), true]);
      }
    expect((await sluice.limits.list()).map(({ key }) => key)).toEqual(before.map(({ key }) => key));
  });

  test("an ID that cannot be waited for fails only its own waiter", async () => {
    await using sluice = await connect({ store: await place.open(), app, migrate: true });
    const { id } = await sluice.enqueue("echo", 1);
    const waiting = sluice.ended(id);
    const odd = ["a\0b", "a\ud800", 7 as never, "x".repeat(4_000)].map((bad) => sluice.ended(bad));
    for (const one of await Promise.allSettled(odd))
      expect(one).toMatchObject({ status: "rejected", reason: { code: "BAD_TEXT" } });
    await sluice.cancel(id);
    expect((await waiting).state).toBe("cancelled");
  });
});
