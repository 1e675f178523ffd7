import { expect, test } from "vitest";
import type { Change } from "../store/store.ts";
import { changeView } from "./change-view.ts";

const OF_STEP = { position: 1, n: 2, at: 5, subject: "u", run: "r", step: "s", item: null } as const;
const dataOf = (kind: Change["kind"], data: string): unknown =>
  changeView({ ...OF_STEP, task: "t", queue: "q", kind, data }, "l.1").data;

test("a step that starts has the data of a run's history: its attempt, or the names of its pools", () => {
  expect(dataOf("TaskClaimed", '{"attempt":2,"epoch":9,"session":"s1"}')).toEqual({ attempt: 2 });
  const asks = '{"asks":[["cluster",1],["pool:gpu",1],["pool:tenant=acme",2]]}';
  expect(dataOf("TaskStarted", asks)).toEqual({ pools: "gpu,tenant=acme" });
});

test("a step that is skipped says why under the documented name", () => {
  expect(dataOf("StepSkipped", '{"kind":"when"}')).toEqual({ because: { kind: "when" } });
});
