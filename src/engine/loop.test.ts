import { describe, expect, test } from "vitest";
import { FakeEnv } from "../testing/fake-env.ts";
import { Loop } from "./loop.ts";

interface World {
  readonly env: FakeEnv;
  readonly loop: Loop;
  /** When it looked, counted from the start. */
  readonly looks: number[];
  readonly errors: unknown[];
}

function world(answer: () => Promise<number | undefined> = async () => undefined): World {
  const env = new FakeEnv();
  env.chance = 0;
  const begin = env.monotonic();
  const looks: number[] = [];
  const errors: unknown[] = [];
  const polling = { pollMs: 1_000, jitterMs: 500, failed: (error: unknown) => errors.push(error) };
  const loop = new Loop(env, polling, () => {
    looks.push(env.monotonic() - begin);
    return answer();
  });
  return { env, loop, looks, errors };
}

/** A look that takes until the test releases it. */
function slow(): { readonly answer: () => Promise<undefined>; readonly release: () => void } {
  let release: () => void = () => {};
  const answer = () =>
    new Promise<undefined>((resolve) => {
      release = () => resolve(undefined);
    });
  return { answer, release: () => release() };
}

describe("a loop", () => {
  test("has started when its first look is over", async () => {
    const { answer, release } = slow();
    const { env, loop } = world(answer);
    let started = false;
    void loop.start().then(() => {
      started = true;
    });
    await env.settle();
    expect(started).toBe(false);
    release();
    await env.settle();
    expect(started).toBe(true);
  });

  test("has started, too, when its first look has failed, and looks again with the poll", async () => {
    const { env, loop, looks, errors } = world(() => Promise.reject(new Error("away")));
    await loop.start();
    await env.advance(1_000);
    expect([looks, errors.length]).toEqual([[0, 1_000], 2]);
  });

  test("looks when the look before said so, but not later than the poll", async () => {
    const answers = [300, 20_000, -5];
    const { env, loop, looks } = world(async () => answers.shift());
    await loop.start();
    await env.advance(2_300);
    expect(looks).toEqual([0, 300, 1_300, 1_300, 2_300]);
  });

  test("looks once more when it was told during a look, however often", async () => {
    const { answer, release } = slow();
    const { env, loop, looks } = world(answer);
    void loop.start();
    for (let told = 0; told < 3; told += 1) loop.wake();
    expect(looks).toHaveLength(1);
    release();
    await env.settle();
    expect(looks).toHaveLength(2);
    release();
    await env.settle();
    expect(looks).toHaveLength(2);
  });

  test("does not look before it was started or after it was stopped, whoever tells it", async () => {
    const { env, loop, looks } = world();
    loop.wake();
    await env.advance(2_000);
    expect(looks).toEqual([]);
    await loop.start();
    await loop.stop();
    loop.wake();
    await env.advance(2_000);
    expect([looks, env.planned]).toEqual([[2_000], []]);
  });

  test("has stopped when the look under way is over, and forgets that it was told meanwhile", async () => {
    const { answer, release } = slow();
    const { env, loop, looks } = world(answer);
    void loop.start();
    loop.wake();
    let stopped = false;
    void loop.stop().then(() => {
      stopped = true;
    });
    await env.settle();
    expect(stopped).toBe(false);
    release();
    await env.settle();
    expect([stopped, looks.length, env.planned]).toEqual([true, 1, []]);
  });
});
