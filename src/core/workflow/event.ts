/** An event that steps wait for, as its author writes it. `signal` sends one. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Carrying } from "./carried.ts";

/** `Input` is what senders pass. `Payload` is what the schema makes of it, and what a waiting step gets. */
export interface EventDefinition<Input, Payload = Input> extends Carrying<Input, Payload> {
  readonly id: string;
  /** Checks every payload that is sent. */
  readonly payload?: StandardSchemaV1<Input, Payload>;
}

// biome-ignore lint/suspicious/noExplicitAny: events have no common payload; each is checked by its own schema.
export type AnyEvent = EventDefinition<any, any>;

/** With a schema, the types come from the schema. */
export function event<Input, Payload>(definition: {
  readonly id: string;
  readonly payload: StandardSchemaV1<Input, Payload>;
}): EventDefinition<Input, Payload>;
/** Without a schema, the payload may be named as a type: `event<{ orderId: string }>({ id: "paid" })`. */
export function event<Payload = unknown>(definition: {
  readonly id: string;
  readonly payload?: never;
}): EventDefinition<Payload>;
export function event(definition: AnyEvent): AnyEvent {
  return Object.freeze({ ...definition });
}

/** The values by which a payload is matched. */
export type Scalar = string | number | boolean;

export const isScalar = (value: unknown): value is Scalar =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";
