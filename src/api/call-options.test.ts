import { expect, test } from "vitest";
import { checkApp } from "../core/app/check.ts";
import { workflow } from "../core/workflow/definition.ts";
import { task } from "../index.ts";
import { openMemory } from "../store/memory/index.ts";
import { connect } from "./connect.ts";
import type { Sluice } from "./sluice.ts";

const mail = task({ id: "mail", run: () => 1 });
const order = workflow({ id: "order", steps: (s) => s.step("mail", mail) });
const app = checkApp({ tasks: [mail], workflows: [order] });

/** Each call, with options that bypass the type checker. */
const CALLS: readonly [string, (sluice: Sluice, options: never) => Promise<unknown>][] = [
  ["enqueue", (sluice, options) => sluice.enqueue(mail, undefined, options)],
  ["enqueueMany", (sluice, options) => sluice.enqueueMany([{ task: mail, input: undefined, options }])],
  ["submit", (sluice, options) => sluice.submit(order, undefined, options)],
  ["execute", (sluice, options) => sluice.execute(order, undefined, options)],
];

test.each(CALLS)(
  "%s refuses an option that it does not know, and says which one was meant",
  async (_, call) => {
    await using sluice = await connect({ store: openMemory(), app });
    await expect(call(sluice, { prioritty: 3 } as never)).rejects.toMatchObject({
      code: "BAD_OPTIONS",
      message: expect.stringContaining('"prioritty" is not a known option. Did you mean "priority"?'),
    });
    // An option that is undefined does not count as given.
    await call(sluice, { priority: 3, prioritty: undefined } as never);
  },
);

test.each(CALLS)("%s refuses options that are none, with a code", async (_, call) => {
  await using sluice = await connect({ store: openMemory(), app });
  for (const options of [null, "fast", 3, []])
    await expect(call(sluice, options as never)).rejects.toMatchObject({ code: "BAD_OPTIONS" });
});

test("names that cannot be seen, or have no end, are spelled out and cut in every message", async () => {
  await using sluice = await connect({ store: openMemory(), app });
  const odd = `\0\ud800${"x".repeat(100_000)}`;
  const calls = [
    ["UNKNOWN_QUEUE", () => sluice.enqueue(mail, undefined, { queue: odd })],
    ["UNKNOWN_QUEUE", () => sluice.worker({ queues: [odd] })],
    ["BAD_TAG", () => sluice.submit(order, undefined, { tags: { [odd]: "a" } })],
    ["BAD_TAG", () => sluice.submit(order, undefined, { tags: { a: odd } })],
  ] as const;
  for (const [code, call] of calls) {
    const error = await call().then(
      () => undefined,
      (failure: unknown) => failure as Error & { code: string },
    );
    expect(error?.code).toBe(code);
    expect(error?.message.length).toBeLessThan(400);
    expect(error?.message).not.toMatch(/[\0\p{Surrogate}]/u);
  }
});
