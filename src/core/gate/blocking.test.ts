import { expect, test } from "vitest";
import { blockingKeys } from "./blocking.ts";
import type { Gate } from "./gate.ts";
import type { Reason } from "./reason.ts";

const ASYNC = "run:r/async";
const WINDOW = "run:r/items/each";

const gate = (key: string, limit: number, held: number, paused = true): Gate => ({
  key,
  limit,
  held,
  paused,
  line: "skip",
});
const paused = (key: string): Reason => ({ kind: "paused", gate: key, ahead: 0 });
const full = (key: string): Reason => ({ kind: "full", gate: key, limit: 1, held: 1, asked: 1, ahead: 0 });

const keysOf = (gates: readonly Gate[], ...reasons: readonly Reason[]): string[] =>
  blockingKeys(
    reasons,
    (key) => gates.find((each) => each.key === key),
    () => 1,
  );

test("the gates of a paused run are recorded as one pause", () => {
  const gates = [gate(ASYNC, -1, 5), gate(WINDOW, 2, 1)];
  expect(keysOf(gates, paused(ASYNC), paused(WINDOW))).toEqual(["run:r"]);
});

test("a gate that is paused and full is recorded as both, until it has room", () => {
  const gates = (held: number) => [gate(ASYNC, -1, held), gate(WINDOW, 2, held)];
  expect(keysOf(gates(2), paused(ASYNC), paused(WINDOW))).toEqual(["run:r", WINDOW]);
  expect(keysOf(gates(1), paused(ASYNC), paused(WINDOW))).toEqual(["run:r"]);
});

test("every other gate is recorded by its own key, paused or not, and each once", () => {
  const gates = [gate("queue:q", -1, 0), gate("pool:p", 1, 1, false), gate(WINDOW, 1, 1, false)];
  expect(keysOf(gates, paused("queue:q"), full("pool:p"), full(WINDOW), full("pool:p"))).toEqual([
    "pool:p",
    "queue:q",
    WINDOW,
  ]);
  expect(keysOf([], full("pool:p"), { kind: "noWorker", queue: "q", name: "t" })).toEqual(["pool:p"]);
});

test("a run's own limit of 0 is no pause of the run", () => {
  expect(keysOf([gate(ASYNC, 0, 0, false)], paused(ASYNC))).toEqual([ASYNC]);
});
