/** Places among the units of one lane. */
import type { LanePlace } from "./store.ts";

/** Behind every unit. */
export const END: LanePlace = {
  priority: -Number.MAX_SAFE_INTEGER,
  at: Number.MAX_SAFE_INTEGER,
  id: "",
};

export function isBefore(a: LanePlace, b: LanePlace): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  return a.at !== b.at ? a.at < b.at : a.id < b.id;
}
