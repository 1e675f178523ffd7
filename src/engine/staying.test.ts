import { expect, test } from "vitest";
import type { AfterOptions, Cancel, Env } from "../env/env.ts";
import { FakeEnv } from "../testing/fake-env.ts";
import type { Service } from "./service.ts";
import { Staying } from "./staying.ts";

/** Counts the timers that keep the process alive. */
class CountingEnv extends FakeEnv implements Env {
  readonly keeping = new Set<object>();

  override after(ms: number, call: () => void, options?: AfterOptions): Cancel {
    const mark = {};
    if (options?.keepsAlive) this.keeping.add(mark);
    const cancel = super.after(ms, () => {
      this.keeping.delete(mark);
      call();
    });
    return () => {
      this.keeping.delete(mark);
      cancel();
    };
  }
}

test("a service keeps the process alive for days, and until it has stopped completely", async () => {
  const env = new CountingEnv();
  let end = (): void => {};
  const stopping = new Promise<void>((resolve) => {
    end = resolve;
  });
  const staying = new Staying(env, { start: async () => {}, stop: () => stopping });
  await staying.start();
  await env.advance(3 * 24 * 60 * 60 * 1_000);
  expect(env.keeping.size).toBe(1);
  const stopped = staying.stop();
  await env.settle();
  expect(env.keeping.size).toBe(1);
  end();
  await stopped;
  expect([env.keeping.size, env.planned]).toEqual([0, []]);
});

test.each<[string, Partial<Service>]>([
  ["cannot start", { start: () => Promise.reject(new Error("no")) }],
  ["cannot stop", { stop: () => Promise.reject(new Error("no")) }],
])("a service that %s does not keep the process alive", async (_, over) => {
  const env = new CountingEnv();
  const staying = new Staying(env, { start: async () => {}, stop: async () => {}, ...over });
  await staying.start().catch(() => {});
  await staying.stop().catch(() => {});
  expect([env.keeping.size, env.planned]).toEqual([0, []]);
});
