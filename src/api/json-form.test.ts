// Results are stored as JSON, so a program that reads one gets its JSON form, and its type says so.

import { expect, expectTypeOf, onTestFinished, test } from "vitest";
import { task } from "../core/task/definition.ts";
import { openMemory } from "../store/memory/index.ts";
import { defineApp } from "./app.ts";
import { connect } from "./connect.ts";

test("a Date in a task's result is read as a text", async () => {
  const clock = task({ id: "clock", run: () => ({ at: new Date(0), n: 1 }) });
  const sluice = await connect({ store: openMemory(), app: defineApp({ tasks: [clock] }) });
  onTestFinished(() => sluice.close());
  await sluice.worker({ slots: 1 });
  const { id } = await sluice.enqueue(clock, undefined);
  const ended = await sluice.ended<typeof clock>(id);
  const got = await sluice.get<typeof clock>(id);
  expectTypeOf(ended.result).toEqualTypeOf<{ at: string; n: number } | undefined>();
  expectTypeOf(got?.result).toEqualTypeOf<{ at: string; n: number } | undefined>();
  expect([ended.result, got?.result]).toEqual(
    Array.from({ length: 2 }, () => ({ at: "1970-01-01T00:00:00.000Z", n: 1 })),
  );
  expectTypeOf((await sluice.list())[0]?.result).toBeUnknown();
});
