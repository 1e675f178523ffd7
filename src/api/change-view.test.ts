import { expect, test } from "vitest";
import type { Change } from "../store/store.ts";
import { changeViews, topicsOf } from "./change-view.ts";

const OF_STEP = { position: 7, n: 2, at: 5, subject: "u", run: "r", step: "s", item: null } as const;
const toldOf = (kind: Change["kind"], data: string): unknown[] =>
  changeViews({ ...OF_STEP, task: "t", queue: "q", kind, data }, (position) => `l.${position}`).map(
    (view) => [view.kind, view.cursor, view.data],
  );

const ASKS = '"asks":[["cluster",1],["pool:gpu",1],["pool:tenant=acme",2]]';
const POOLS = { pools: "gpu,tenant=acme" };

test("a step that starts has the data of a run's history, and tells its pools first", () => {
  expect(toldOf("TaskClaimed", '{"attempt":2,"epoch":9,"session":"s1","asks":[["cluster",1]]}')).toEqual([
    ["StepStarted", "l.7", { attempt: 2 }],
  ]);
  // Whoever resumes after the first of the two gets both again.
  expect(toldOf("TaskClaimed", `{"attempt":2,"epoch":9,"session":"s1",${ASKS}}`)).toEqual([
    ["StepSlotClaimed", "l.6", POOLS],
    ["StepStarted", "l.7", { attempt: 2 }],
  ]);
});

test("a step that was claimed in advance tells its pools when it takes their slots", () => {
  expect(toldOf("TaskStarted", `{${ASKS}}`)).toEqual([["StepSlotClaimed", "l.7", POOLS]]);
  expect(toldOf("TaskStarted", '{"asks":[["cluster",1]]}')).toEqual([]);
});

test("a step that is skipped says why under the documented name", () => {
  expect(toldOf("StepSkipped", '{"kind":"when"}')).toEqual([
    ["StepSkipped", "l.7", { because: { kind: "when" } }],
  ]);
});

test("a filter that names an event which only histories have is refused, and the message says so", () => {
  for (const kind of ["LaneWaiting", "StepSlotWaiting", "StepSlotReleased"])
    expect(() => topicsOf([kind])).toThrow(`"${kind}" is an event of a history. The feed does not tell it.`);
  expect(() => topicsOf(["TaskFaild"])).toThrow('"TaskFaild" is not a kind of change. Did you mean');
});
