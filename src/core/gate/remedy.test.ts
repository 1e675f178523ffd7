import { expect, test } from "vitest";
import type { Reason } from "./reason.ts";
import { remedies, shelter } from "./remedy.ts";

const books = "mutex:books";
const full: Reason = { kind: "full", gate: books, limit: 1, held: 1, asked: 1, ahead: 0, room: 2 };

test("nobody is told to raise the limit of a mutex: its holder must end", () => {
  expect(remedies(full)).toEqual([]);
  expect(remedies({ ...full, room: undefined } as unknown as Reason)).toEqual([]);
  expect(remedies({ ...full, gate: "pool:books" })).toEqual([
    { action: "setLimit", gate: "pool:books", limit: 2 },
  ]);
});

test("who is behind others at a mutex is not told what helps the front: the front would take the mutex", () => {
  const away: Reason = { kind: "noWorker", queue: "post", name: "mail" };
  const behind = { ...full, kind: "behind", held: 0, front: { unit: "a", reasons: [away] } } as const;
  expect(remedies(behind)).toEqual([]);
});

test("a queue is paused first and resumed last if no order of the remedies is sure", () => {
  const contested = { ...full, gate: "pool:a", contested: { pause: "queue:mail" } };
  expect(shelter([contested, full])).toEqual({
    before: { action: "pauseQueue", queue: "mail" },
    after: { action: "resumeQueue", queue: "mail" },
  });
  expect(shelter([{ ...contested, contested: {} }, full])).toBeUndefined();
  expect(shelter([full, full])).toBeUndefined();
});

test("a mutex that is paused by its limit of 0 is reset, and never raised", () => {
  expect(remedies({ kind: "paused", gate: books, ahead: 0, room: 2 })).toEqual([
    { action: "resetLimit", gate: books },
  ]);
});
