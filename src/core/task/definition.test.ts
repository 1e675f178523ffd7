import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { AnyTask, InputOf, OutputOf, TaskDefinition } from "./definition.ts";
import { task } from "./definition.ts";

describe("a task", () => {
  it("takes its types from its schema, before and after parsing", () => {
    const charge = task({
      id: "charge",
      input: z.object({ orderId: z.string(), cents: z.string().transform(Number) }),
      pools: ({ cents }) => ({ database: cents > 100 ? 2 : 1 }),
      run: async ({ orderId, cents }) => {
        expectTypeOf(orderId).toEqualTypeOf<string>();
        expectTypeOf(cents).toEqualTypeOf<number>();
        return { paid: cents };
      },
    });
    expectTypeOf<InputOf<typeof charge>>().toEqualTypeOf<{ orderId: string; cents: string }>();
    expectTypeOf<OutputOf<typeof charge>>().toEqualTypeOf<{ paid: number }>();
    expect(charge.id).toBe("charge");
  });

  it("without a schema takes what its code says", () => {
    const greet = task({ id: "greet", run: (name: string) => `hello ${name}` });
    expectTypeOf(greet).toEqualTypeOf<TaskDefinition<string, string>>();
    const tick = task({ id: "tick", run: () => 1 });
    expectTypeOf<InputOf<typeof tick>>().toEqualTypeOf<void>();
    expectTypeOf<OutputOf<typeof tick>>().toEqualTypeOf<number>();
  });

  it("is given the platform's own AbortSignal", () => {
    task({
      id: "wait",
      run: (_, context) => {
        expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
        expectTypeOf(context.signal.throwIfAborted).toBeFunction();
        const signal: AbortSignal = AbortSignal.any([context.signal]);
        return signal.aborted;
      },
    });
  });

  it("cannot be changed once it is made", () => {
    const made = task({ id: "a", run: () => {} });
    expect(Object.isFrozen(made)).toBe(true);
  });

  it("of any type fits into a list of tasks", () => {
    const tasks: readonly AnyTask[] = [
      task({ id: "a", run: () => 1 }),
      task({ id: "b", input: z.string(), pools: { gpu: 1 }, run: (text) => text.length }),
    ];
    expect(tasks).toHaveLength(2);
  });
});
