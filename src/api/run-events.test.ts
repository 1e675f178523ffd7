import { describe, expect, test } from "vitest";
import type { EventRow } from "../store/store.ts";
import { runEvents } from "./run-events.ts";

const event = (at: number, kind: EventRow["kind"], data: unknown = null): EventRow => ({
  subject: "x",
  n: at,
  kind,
  at,
  data: data === null ? null : JSON.stringify(data),
});
const waited = event(1, "LaneWaiting", ["pool:gpu"]);

describe("the history of a step that asks a pool", () => {
  const told = (own: readonly EventRow[], lane: readonly EventRow[]): string[] =>
    runEvents([], [], null, [{ step: "a", pools: ["gpu"], own, lane, now: 9 }]).map(
      ({ at, kind }) => `${at} ${kind}`,
    );

  test("waited, claimed, renewed, released", () => {
    const own = [
      event(1, "TaskEnqueued"),
      event(4, "TaskClaimed", { attempt: 1 }),
      event(5, "StepSlotRenewed"),
      event(6, "TaskSucceeded"),
    ];
    expect(told(own, [waited, event(4, "LaneWaiting", [])])).toEqual([
      "1 StepReady",
      "1 StepSlotWaiting",
      "4 StepSlotClaimed",
      "4 StepStarted",
      "5 StepSlotRenewed",
      "6 StepSlotReleased",
      "6 StepSucceeded",
    ]);
  });

  test.each(["TaskFailed", "TaskCancelled"] as const)(
    "tells its wait also when that ended without slots: %s",
    (end) => {
      expect(told([event(1, "TaskEnqueued"), event(4, end)], [waited])).toEqual([
        "1 StepReady",
        "1 StepSlotWaiting",
        `4 ${end.replace("Task", "Step")}`,
      ]);
    },
  );

  test("tells a wait that has not ended", () => {
    expect(told([event(1, "TaskEnqueued")], [waited])).toEqual(["1 StepReady", "1 StepSlotWaiting"]);
  });
});
