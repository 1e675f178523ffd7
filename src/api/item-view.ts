/** An item of a step over a list, as people and programs see it. */
import type { StoredError } from "../executor/executor.ts";
import { inputOf } from "../executor/input.ts";
import type { ItemRow } from "../store/store.ts";
import { readable } from "./readable.ts";

export interface ItemView {
  readonly index: number;
  /** The task that it is: what `why` and `tasks show` take. */
  readonly unit: string;
  readonly state: ItemRow["place"];
  readonly attempt: number;
  readonly input: unknown;
  readonly result?: unknown;
  readonly error?: StoredError;
}

export function itemView({ item, unit, place, attempt, input, result }: ItemRow): ItemView {
  const body = result === null ? undefined : readable(result);
  return {
    index: item,
    unit,
    state: place,
    attempt,
    input: readable(input, inputOf),
    ...(place === "succeeded" ? { result: body } : body === undefined ? {} : { error: body as StoredError }),
  };
}
