import { expect, test } from "vitest";
import { z } from "zod";
import { workflow } from "../workflow/definition.ts";
import type { Reference } from "../workflow/reference.ts";
import { task } from "./definition.ts";
import type { Failure } from "./failure.ts";

interface Order {
  readonly orderId: string;
}
const ofOrders = task({ id: "of-orders", run: ({ input }: Failure<Order>) => input.orderId });
const ofTexts = task({ id: "of-texts", run: ({ input }: Failure<string>) => input.length });
const ofAll = task({ id: "of-all", run: ({ error }: Failure) => error.message });
const ofWhatever = task({ id: "of-whatever", run: () => "noted" });
const checked = task({ id: "checked", input: z.object({ id: z.string() }), run: ({ id }) => id });

test("a task takes a handler for its own input, or for any", () => {
  const made = [ofOrders, ofAll, ofWhatever, checked].map((onFailure) =>
    task({ id: "charge", onFailure: onFailure as typeof ofAll, run: (_: Order) => {} }),
  );
  task({ id: "a", onFailure: ofOrders, run: (_: Order & { readonly more: number }) => {} });
  task({ id: "b", onFailure: ofAll, run: (_: Order) => {} });
  task({ id: "c", onFailure: ofWhatever, run: (_: Order) => {} });
  task({ id: "d", onFailure: checked, run: (_: Order) => {} });
  task({ id: "e", onFailure: ofTexts, input: z.string().transform(Number), run: () => {} });
  // A Date is stored as a text.
  task({ id: "f", onFailure: ofTexts, run: (_: Date) => {} });
  expect(made).toHaveLength(4);
});

test("a handler for another input is refused", () => {
  // @ts-expect-error: its input is no order.
  task({ id: "a", onFailure: ofOrders, run: (_: { other: number }) => {} });
  // @ts-expect-error: its input is a number before the schema has read it.
  task({ id: "b", onFailure: ofTexts, input: z.number().transform(String), run: () => {} });
  // @ts-expect-error: a run of it has no input.
  workflow({ id: "c", onFailure: ofOrders, steps: () => null });
  const text = (_: unknown, input: Reference<string>) => input;
  // @ts-expect-error: its input is a text.
  workflow({ id: "d", onFailure: ofOrders, steps: text });
  // A run keeps what the schema has made of its input.
  workflow({ id: "e", input: z.number().transform(String), onFailure: ofTexts, steps: () => null });
  // @ts-expect-error: that is a number.
  workflow({ id: "f", input: z.string().transform(Number), onFailure: ofTexts, steps: () => null });
  expect(ofOrders.id).toBe("of-orders");
});
