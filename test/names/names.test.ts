// One rule for every name and value, on every store: an allowed value is kept byte by byte, and any other is
// refused.

import { expect, test } from "vitest";
import { inByteOrder } from "../../src/core/text.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";

const echo = task({ id: "echo", run: (input: unknown) => input });
const tenant = task({
  id: "tenant",
  pools: ({ of }: { of: string }) => ({ [`tenant=${of}`]: 1 }),
  run: ({ of }: { of: string }) => of,
});
const odd = task({
  id: "odd",
  run: (how: string, { log, progress }) => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    if (how === "log") log("round", circle);
    if (how === "log") progress({ big: 10n });
    if (how === "throw") throw { status: 502, reason: "busy\0" };
    return how === "result" ? { list: [1, { n: Number.NaN }] } : "\0\ud800";
  },
});
const flow = workflow({ id: "flow", steps: (s) => s.step("only", echo, undefined) });
const app = defineApp({
  tasks: [echo, tenant, odd],
  workflows: [flow],
  pools: { tenant: { limit: 1, perValue: true } },
  runs: { max: 10, tags: [{ key: "of", perValue: true, limit: 1 }] },
});

const open = async (place: Place) => connect({ store: await place.open(), app, migrate: true });

const REFUSED = {
  NUL: "a\0b",
  "half a pair": "a\ud800",
  "4,000 letters": "x".repeat(4_000),
  "a line break": "a\nb",
} as const;

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a space at the end makes another key, another value and another tag", async () => {
    await using sluice = await open(place);
    const one = await sluice.enqueue(echo, 1, { idempotencyKey: "order-1" });
    const two = await sluice.enqueue(echo, 2, { idempotencyKey: "order-1 " });
    expect(two.created).toBe(true);
    expect((await sluice.get(two.id))?.input).toBe(2);
    expect(await sluice.enqueue(echo, 3, { idempotencyKey: "order-1 " })).toEqual({
      id: two.id,
      created: false,
    });
    expect(await sluice.enqueue(echo, 3, { idempotencyKey: "ORDER-1" })).toMatchObject({ created: true });
    const values = ["acme", "acme ", "ACME", "é", "e\u0301"];
    const made = await Promise.all(values.map((of) => sluice.enqueue(tenant, { of })));
    const runs = await Promise.all(values.map((of) => sluice.submit(flow, undefined, { tags: { of } })));
    await sluice.worker({ slots: 8 });
    for (const { id } of [one, two, ...made]) expect((await sluice.ended(id)).state).toBe("succeeded");
    for (const { id } of runs) expect((await sluice.runs.ended(id)).state).toBe("succeeded");
    const keys = (await sluice.limits.list()).map(({ key }) => key);
    for (const of of values)
      expect(keys).toEqual(expect.arrayContaining([`pool:tenant=${of}`, `tag:of=${of}`]));
  });

  test("gates stand in the order of their bytes, also beyond the first plane", async () => {
    await using sluice = await open(place);
    const values = ["\uffee", "\u{1f600}", "z", "ж", "\ue000"];
    const made = await Promise.all(values.map((of) => sluice.enqueue(tenant, { of })));
    await sluice.worker({ slots: 8 });
    for (const { id } of made) await sluice.ended(id);
    const keys = (await sluice.limits.list()).map(({ key }) => key);
    expect(keys).toEqual([...keys].sort(inByteOrder));
  });

  test.each(Object.entries(REFUSED))(
    "%s is refused wherever a name is asked for, and work goes on",
    async (_, bad) => {
      await using sluice = await open(place);
      const refusals = [
        () => sluice.enqueue(tenant, { of: bad }),
        () => sluice.enqueue(echo, 1, { idempotencyKey: bad }),
        () => sluice.submit(flow, undefined, { tags: { of: bad } }),
        () => sluice.submit(flow, undefined, { tags: { [bad]: "x" } }),
        () => sluice.submit(flow, undefined, { source: bad }),
        () => sluice.submit(flow, undefined, { idempotencyKey: bad }),
        () => sluice.limits.set(`pool:${bad}`, 1),
        () => sluice.limits.set("pool:tenant=x", 1, bad),
        () => sluice.pools.set(bad, 1),
        () => sluice.queues.pause(bad),
        () => sluice.get(bad),
        () => sluice.explain(bad),
        () => sluice.cancel(bad),
        () => sluice.restore(bad),
        () => sluice.runs.get(bad),
        () => sluice.list({ name: bad }),
        () => sluice.store.find(bad),
        () => sluice.worker({ name: bad }),
      ];
      for (const refusal of refusals)
        await expect(refusal()).rejects.toMatchObject({
          code: expect.stringMatching(/^BAD_(TEXT|TAG|POOL)$/),
        });
      await sluice.worker();
      const { id } = await sluice.enqueue(echo, 1);
      expect((await sluice.ended(id)).state).toBe("succeeded");
    },
  );

  test("numbers that no store could keep are refused, and so are lists of no length", async () => {
    await using sluice = await open(place);
    for (const [refusal, code] of [
      [() => sluice.enqueue(echo, 1, { priority: 2 ** 53 }), "BAD_PRIORITY"],
      [() => sluice.enqueue(echo, 1, { priority: 1e15 }), "BAD_PRIORITY"],
      [() => sluice.enqueue(echo, 1, { delay: "99999999d" }), "BAD_OPTIONS"],
      [() => sluice.enqueue(echo, 1, { runAt: new Date(8.64e15) }), "BAD_OPTIONS"],
      [() => sluice.limits.set("cluster", 1e12), "BAD_LIMIT"],
      [() => sluice.pools.set("", 3), "BAD_TEXT"],
      [() => sluice.list({ limit: -1 }), "BAD_PAGE"],
      [() => sluice.list({ limit: 1.5 }), "BAD_PAGE"],
      [() => sluice.runs.list({ limit: 0 }), "BAD_PAGE"],
    ] as const)
      await expect(refusal()).rejects.toMatchObject({ code });
  });

  test("inputs, results and errors keep every character, and odd logs fail nobody", async () => {
    await using sluice = await open(place);
    const input = { text: "\0\ud800\u2028\ufeff", "\0": ["\udfff"] };
    await sluice.worker();
    const kept = await sluice.enqueue(echo, input);
    expect((await sluice.ended(kept.id)).result).toEqual(input);
    const thrown = await sluice.enqueue(odd, "throw");
    expect((await sluice.ended(thrown.id)).error?.message).toBe('{"status":502,"reason":"busy\\u0000"}');
    const logged = await sluice.enqueue(odd, "log");
    expect(await sluice.ended(logged.id)).toMatchObject({ state: "succeeded", result: "\0\ud800" });
    const lines = (await sluice.events(logged.id)).filter(({ kind }) => kind === "TaskLogged");
    expect(lines.map(({ data }) => JSON.parse(data ?? ""))).toEqual([
      { message: "round", data: { self: "[circular]" } },
    ]);
    const failed = await sluice.enqueue(odd, "result");
    expect(await sluice.ended(failed.id)).toMatchObject({
      state: "failed",
      attempt: 1,
      error: {
        code: "RESULT_NOT_JSON",
        message: 'task "odd": result.list[1].n: NaN cannot be stored as JSON.',
      },
    });
    await expect(sluice.enqueue(echo, { items: [1, new Map()] })).rejects.toThrow(
      'task "echo": input.items[1]: a Map cannot be stored as JSON.',
    );
  });
});
