import { describe, expect, test } from "vitest";
import type { TaskRow } from "../store/store.ts";
import { taskView } from "./task-view.ts";

const row = (more: Partial<TaskRow> = {}): TaskRow => ({
  id: "id1",
  name: "send",
  queue: "mail",
  lane: "lane",
  asks: '[["cluster",1],["pool:gpu",2]]',
  priority: 3,
  state: "waiting",
  input: '{"to":"ann"}',
  options: '{"retry":{}}',
  key: "order-7",
  attempt: 1,
  losses: 0,
  createdAt: 10,
  at: 15,
  since: 20,
  session: null,
  epoch: null,
  goodUntil: 99,
  holds: false,
  progress: null,
  body: null,
  ...more,
});

describe("a task as people see it", () => {
  test("has its texts read, and nothing of how it is stored", () => {
    expect(taskView(row())).toEqual({
      id: "id1",
      name: "send",
      queue: "mail",
      state: "waiting",
      priority: 3,
      attempt: 1,
      losses: 0,
      input: { to: "ann" },
      asks: [
        { gate: "cluster", slots: 1 },
        { gate: "pool:gpu", slots: 2 },
      ],
      idempotencyKey: "order-7",
      session: null,
      createdAt: 10,
      at: 20,
      goodUntil: 99,
    });
  });

  test("that succeeded has its result, even when that is nothing", () => {
    expect(taskView(row({ state: "succeeded", body: '{"n":1}' }))).toMatchObject({ result: { n: 1 } });
    expect(taskView(row({ state: "succeeded", body: "null" }))).toHaveProperty("result", null);
    expect(taskView(row({ state: "succeeded", body: "0" }))).not.toHaveProperty("error");
  });

  test("that ended badly has its error, and no result", () => {
    const error = { name: "Error", message: "no" };
    for (const state of ["failed", "quarantined"] as const) {
      const view = taskView(row({ state, body: JSON.stringify(error) }));
      expect(view.error).toEqual(error);
      expect(view).not.toHaveProperty("result");
    }
  });

  test("has neither while it has not ended", () => {
    const view = taskView(row({ state: "running", session: "s1" }));
    expect(view).not.toHaveProperty("error");
    expect(view).not.toHaveProperty("result");
    expect(view.session).toBe("s1");
  });

  test("has its progress as soon as there is one", () => {
    expect(taskView(row({ state: "running", progress: "0" })).progress).toBe(0);
    expect(taskView(row({ state: "running", progress: '{"done":5}' })).progress).toEqual({ done: 5 });
    expect(taskView(row())).not.toHaveProperty("progress");
  });

  test("shows what somebody has spoilt as it is, so that one row does not hide the others", () => {
    const spoilt = taskView(
      row({ input: "{oops", asks: "[[", body: "<html>", state: "failed", progress: "50%" }),
    );
    expect(spoilt).toMatchObject({ input: "{oops", asks: [], progress: "50%" });
    expect(spoilt.error).toEqual({ name: "Error", message: "<html>" });
  });
});
