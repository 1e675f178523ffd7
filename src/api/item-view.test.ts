import { describe, expect, test } from "vitest";
import type { EventRow, ItemRow } from "../store/store.ts";
import { itemView } from "./item-view.ts";

const row = (inLine: ItemRow["inLine"]): ItemRow => ({
  item: 0,
  unit: "id0",
  place: "failed",
  attempt: 2,
  input: "[0]",
  result: null,
  enqueuedAt: 0,
  claimedAt: 2_000,
  finishedAt: 3_000,
  inLine,
});

const waiting = (n: number, at: number, gates: readonly string[]): EventRow => ({
  subject: "lane",
  n,
  kind: "LaneWaiting",
  at,
  data: JSON.stringify(gates),
});

describe("an item", () => {
  test("that is tried again did not wait while it was at work or put off", () => {
    const lane = [waiting(1, 0, ["pool:window"])];
    const stood = [
      { from: 0, until: 0 },
      { from: 1_900, until: 2_000 },
    ];
    expect(itemView(row(stood), lane, 9_000).waits).toEqual([{ gate: "pool:window", forMs: 100 }]);
    expect(itemView(row(stood.slice(0, 1)), lane, 9_000).waits).toEqual([]);
  });

  test("that stands in line waits until now", () => {
    const lane = [waiting(1, 100, ["pool:window"])];
    expect(itemView(row([{ from: 0, until: null }]), lane, 900).waits).toEqual([
      { gate: "pool:window", forMs: 800 },
    ]);
  });
});
