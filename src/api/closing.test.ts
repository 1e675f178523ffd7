import { expect, test } from "vitest";
import { task } from "../core/task/definition.ts";
import { openMemory } from "../store/memory/index.ts";
import { defineApp } from "./app.ts";
import { connect } from "./connect.ts";

/** A promise with its ends in our hands. */
function signal<T = void>(): { readonly given: Promise<T>; readonly give: (value: T) => void } {
  let give: (value: T) => void = () => {};
  const given = new Promise<T>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

test("a task that still runs can use the store while its worker is being closed", async () => {
  const [begun, closing] = [signal(), signal()];
  const other = task({ id: "other", run: () => 1 });
  const enqueued = signal<boolean>();
  const last = task({
    id: "last",
    run: async () => {
      begun.give();
      await closing.given;
      enqueued.give((await sluice.enqueue(other, undefined)).created);
    },
  });
  const sluice = await connect({ store: openMemory(), app: defineApp({ tasks: [last, other] }) });
  await sluice.worker();
  await sluice.enqueue(last, undefined);
  await begun.given;
  const closed = sluice.close();
  await expect(sluice.worker()).rejects.toMatchObject({ code: "CLOSED" });
  closing.give();
  await closed;
  expect(await enqueued.given).toBe(true);
});

test("who closes again in a hurry shortens the grace period of the first close", async () => {
  const begun = signal();
  const slow = task({
    id: "slow",
    run: (_, { signal: told }) => {
      begun.give();
      return new Promise((resolve) => told.addEventListener("abort", () => resolve(1)));
    },
  });
  const sluice = await connect({ store: openMemory(), app: defineApp({ tasks: [slow] }) });
  await sluice.worker();
  await sluice.enqueue(slow, undefined);
  await begun.given;
  await Promise.all([sluice.close({ graceMs: 3_600_000 }), sluice.close({ graceMs: 0 })]);
  await expect(sluice.list()).rejects.toMatchObject({ code: "CLOSED" });
});
