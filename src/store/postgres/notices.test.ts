import type pg from "pg";
import { expect, test, vi } from "vitest";
import { Notices } from "./notices.ts";

test("who tells and leaves is gone only when all of it is sent", async () => {
  vi.useFakeTimers();
  const sent: { readonly hints: string; readonly done: () => void }[] = [];
  const query = (_text: string, [, hints]: readonly string[]) =>
    new Promise<void>((resolve) => sent.push({ hints: hints as string, done: resolve }));
  const notices = new Notices({ query } as unknown as pg.Pool, {} as never, async () => false);
  notices.tell("work");
  notices.tell("runs");
  notices.tell("cancel");
  let isGone = false;
  const closing = notices.close().then(() => {
    isGone = true;
  });
  // They are sent without waiting for the moment in which hints are coalesced.
  expect(sent.map(({ hints }) => hints)).toEqual(["work", "runs,cancel"]);
  sent[0]?.done();
  await vi.advanceTimersByTimeAsync(100);
  expect(isGone).toBe(false);
  sent[1]?.done();
  await closing;
  vi.useRealTimers();
});
