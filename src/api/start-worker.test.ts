import { describe, expect, test, vi } from "vitest";
import { checkApp } from "../core/app/check.ts";
import { task } from "../index.ts";
import { openMemory } from "../store/memory/index.ts";
import { FakeEnv } from "../testing/index.ts";
import { startWorker } from "./start-worker.ts";
import type { WorkerSettings } from "./worker-settings.ts";

const app = checkApp({ tasks: [task({ id: "say", run: () => "hello" })] });

describe("a worker that would serve nothing, or never rest, is refused, and says what to write", () => {
  const refusal = async (settings: WorkerSettings): Promise<unknown> => {
    const env = new FakeEnv();
    const store = openMemory({ now: env.clock.now });
    const refused = await startWorker(store, app, env, settings).catch((error: unknown) => error);
    expect(await store.sessions()).toEqual([]);
    return refused;
  };

  test.each<[string, string, WorkerSettings]>([
    ["NO_QUEUES", "serve nothing. Name at least one", { queues: [] }],
    ["UNKNOWN_QUEUE", 'no queue " "', { queues: [" "] }],
    ["BAD_SLOTS", "slots must be a whole number of at least 1, got 0", { slots: 0 }],
    ["BAD_SLOTS", "processes must be a whole number of at least 1, got 0", { processes: 0 }],
    ["BAD_POLL", "A poll of 0ms", { poll: "0s" }],
    ["BAD_POLL", "The shortest is 10ms", { poll: "9ms", pollJitter: "1h" }],
    ["BAD_DURATION", "has no unit", { stopGrace: "5" }],
  ])("%s: %s", async (code, words, settings) => {
    expect(await refusal(settings)).toMatchObject({ code, message: expect.stringContaining(words) });
  });

  test("a poll in the environment is held to the same", async () => {
    vi.stubEnv("SLUICE_CLAIM_POLL_INTERVAL", "0ms");
    expect(await refusal({})).toMatchObject({ code: "BAD_POLL" });
    vi.unstubAllEnvs();
  });
});

test.each([1, 2, 3])(
  "a worker that cannot start leaves nothing behind (what fails: call %i)",
  async (fatal) => {
    const env = new FakeEnv();
    const store = openMemory({ now: env.clock.now });
    let calls = 0;
    const listen: typeof store.listen = (hear) => {
      calls += 1;
      return calls === fatal ? Promise.reject(new Error("gone")) : store.listen(hear);
    };
    await expect(startWorker({ ...store, listen }, app, env, {})).rejects.toThrow("gone");
    expect(calls).toBe(fatal);
    expect(env.planned).toEqual([]);
    expect(await store.sessions()).toEqual([]);
  },
);
