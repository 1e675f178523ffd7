import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { App } from "../../core/app/app.ts";
import type { Job } from "../../executor/executor.ts";
import { Activity } from "./activity.ts";

let said = "";
beforeEach(() => {
  said = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    said += text;
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

const job = { id: "id1", name: "send", attempt: 1, signal: new AbortController().signal } as unknown as Job;

async function ran(activity: Activity, of: Job = job): Promise<void> {
  const run = async (begun: Job) => {
    begun.begins?.();
    return { ok: true, result: null } as never;
  };
  await activity.around({ run }).run(of);
  activity.watch({ kind: "finished", id: "id1", to: "succeeded" } as never);
}

test("what tasks do is told behind the banner, however early they began", async () => {
  const activity = new Activity(new Map([["send", {}]]) as unknown as App["tasks"]);
  await ran(activity);
  expect(said).toBe("");
  process.stdout.write("the banner\n");
  activity.begin();
  expect(said).toMatch(/^the banner\n.* send {2}id1 {2}started\n.* send {2}id1 {2}done in .*\n$/);
  said = "";
  await ran(activity);
  expect(said).toMatch(/^.*started\n.*done in .*\n$/);
});

test("each line of a step names the step and its run", async () => {
  const activity = new Activity(new Map([["send", {}]]) as unknown as App["tasks"]);
  activity.begin();
  await ran(activity, { ...job, step: { run: "01run", name: "mail" } });
  expect(said).toMatch(
    /started {2}\(step mail of run 01run\)\n.* done in \S+ {2}\(step mail of run 01run\)\n$/,
  );
});

test("a warning does not wait for the banner", () => {
  const activity = new Activity(new Map() as unknown as App["tasks"]);
  activity.watch({ kind: "error", error: new Error("the store is away") } as never);
  expect(said).toContain("the store is away");
});
