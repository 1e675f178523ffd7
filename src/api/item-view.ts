/** An item of a step over a list, as users and programs see it. */
import { waitsIn } from "../engine/claiming/wait.ts";
import type { StoredError } from "../executor/executor.ts";
import { inputOf } from "../executor/input.ts";
import type { EventRow, ItemRow } from "../store/store.ts";
import { endOf } from "./end-of.ts";
import { readable } from "./readable.ts";
import type { Waited } from "./run-events.ts";
import { waitedPerGate } from "./run-events.ts";

export interface ItemView {
  readonly index: number;
  /** The ID of its task, for `why` and `tasks show`. */
  readonly unit: string;
  readonly state: ItemRow["place"];
  readonly attempt: number;
  readonly input: unknown;
  readonly result?: unknown;
  readonly error?: StoredError;
  readonly enqueuedAt: number;
  /** When its last attempt was claimed. */
  readonly claimedAt: number | null;
  readonly finishedAt: number | null;
  /** How long it waited for each gate, longest first. */
  readonly waits: readonly Waited[];
}

export function itemView(row: ItemRow, lane: readonly EventRow[], now: number): ItemView {
  const { item, unit, place, attempt, input, result, enqueuedAt, claimedAt, finishedAt } = row;
  return {
    index: item,
    unit,
    state: place,
    attempt,
    input: readable(input, inputOf),
    ...endOf(place, result),
    enqueuedAt,
    claimedAt,
    finishedAt,
    waits: waitedPerGate(waitsIn(lane, row.inLine, now)),
  };
}
