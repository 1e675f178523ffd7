import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { ALL_HINTS } from "../../core/hint.ts";
import { Notices } from "./notices.ts";

test("who tells and leaves is gone only when all of it is sent", async () => {
  vi.useFakeTimers();
  const sent: { readonly hints: string; readonly done: () => void }[] = [];
  const query = (_text: string, [, hints]: readonly string[]) =>
    new Promise<void>((resolve) => sent.push({ hints: hints as string, done: resolve }));
  const notices = new Notices(query as never, {} as never, async () => false);
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

test("who was not connected for a while hears every hint, because any of them may have been missed", async () => {
  vi.useFakeTimers();
  const clients: pg.Client[] = [];
  vi.spyOn(pg.Client.prototype, "connect").mockImplementation(async function (this: pg.Client) {
    clients.push(this);
  });
  vi.spyOn(pg.Client.prototype, "query").mockImplementation(async () => {});
  vi.spyOn(pg.Client.prototype, "end").mockImplementation(async () => {});
  onTestFinished(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  const notices = new Notices(
    async () => {},
    {} as never,
    async () => false,
  );
  const heard: string[] = [];
  await notices.listen((hint) => heard.push(hint));
  heard.length = 0;
  clients[0]?.emit("error", new Error("the server went away"));
  expect(heard).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(clients).toHaveLength(2);
  expect(heard.sort()).toEqual([...ALL_HINTS].sort());
  await notices.close();
});
