import { describe, expect, test } from "vitest";
import { FakeEnv } from "../../testing/fake-env.ts";
import type { Claims } from "../claiming/claims.ts";
import { Journal } from "./journal.ts";

/** Records what was written, in order. If `slow`, a write ends when `release` is called. */
function writer({ slow = false, fails = false } = {}) {
  const written: string[] = [];
  const waiting: (() => void)[] = [];
  const write = async (what: string): Promise<void> => {
    written.push(what);
    if (slow) await new Promise<void>((resolve) => waiting.push(resolve));
    if (fails) throw new Error("the store is away");
  };
  const claims = {
    note: (entries: readonly { id: string; data: string }[]) =>
      write(`note ${entries.map(({ id, data }) => `${id}:${data}`).join(" ")}`),
    progress: (entries: readonly { id: string; value: string }[]) =>
      write(`progress ${entries.map(({ id, value }) => `${id}:${value}`).join(" ")}`),
  } as unknown as Claims;
  return { claims, written, release: () => waiting.shift()?.() };
}

function journal(options: { slow?: boolean; fails?: boolean } = {}) {
  const env = new FakeEnv();
  const store = writer(options);
  return { env, ...store, journal: new Journal(store.claims, env) };
}

describe("what running tasks say", () => {
  test("is gathered for a moment and written together, lines before progress", async () => {
    const { env, written, journal: kept } = journal();
    kept.progress("a", 1, 10);
    kept.log("a", 1, "hello", undefined);
    await env.advance(49);
    expect(written).toEqual([]);
    kept.log("b", 2, "with data", { n: 1 });
    await env.advance(1);
    expect(written).toEqual([
      'note a:{"message":"hello"} b:{"message":"with data","data":{"n":1}}',
      "progress a:10",
    ]);
  });

  test("is only the newest progress of each claim", async () => {
    const { env, written, journal: kept } = journal();
    for (const value of [1, 2, { at: 3 }]) kept.progress("a", 1, value);
    kept.progress("b", 2, undefined);
    await env.advance(50);
    expect(written).toEqual(['progress a:{"at":3} b:null']);
  });

  test("is gathered anew after each writing, and nothing is written where nothing was said", async () => {
    const { env, written, journal: kept } = journal();
    kept.progress("a", 1, 1);
    await env.advance(50);
    await env.advance(1_000);
    expect(written).toEqual(["progress a:1"]);
    expect(env.planned).toEqual([]);
    kept.progress("a", 1, 2);
    await env.advance(50);
    expect(written).toEqual(["progress a:1", "progress a:2"]);
  });

  test("can be written at once, and is not written again", async () => {
    const { env, written, journal: kept } = journal();
    kept.log("a", 1, "bye", undefined);
    await kept.flush();
    expect(written).toHaveLength(1);
    await env.advance(100);
    expect(written).toHaveLength(1);
  });

  test("is written in the order in which it was said, however slow the store is", async () => {
    const { env, written, release, journal: kept } = journal({ slow: true });
    kept.log("a", 1, "1", undefined);
    void kept.flush();
    kept.log("a", 1, "2", undefined);
    void kept.flush();
    await env.settle();
    expect(written).toEqual(['note a:{"message":"1"}']);
    release();
    await env.settle();
    expect(written).toEqual(['note a:{"message":"1"}', 'note a:{"message":"2"}']);
    release();
  });

  test("costs a line and never a task when the store is away", async () => {
    const { written, journal: kept } = journal({ fails: true });
    kept.log("a", 1, "lost", undefined);
    kept.progress("a", 1, 1);
    await kept.flush();
    expect(written).toHaveLength(2);
    expect(kept.has(1)).toBe(false);
  });
});

describe("whether something of a claim is not yet written", () => {
  test("is known by its epoch", () => {
    const { journal: kept } = journal();
    kept.log("a", 1, "x", undefined);
    kept.progress("b", 2, 1);
    expect([kept.has(1), kept.has(2), kept.has(3)]).toEqual([true, true, false]);
  });

  test("is true while it is on its way, and waiting for it takes until it has arrived", async () => {
    const { env, release, journal: kept } = journal({ slow: true });
    kept.log("a", 1, "last words", undefined);
    await env.advance(50);
    expect(kept.has(1)).toBe(true);
    let arrived = false;
    void kept.flush().then(() => {
      arrived = true;
    });
    await env.settle();
    expect(arrived).toBe(false);
    release();
    await env.settle();
    expect([arrived, kept.has(1)]).toEqual([true, false]);
  });
});
