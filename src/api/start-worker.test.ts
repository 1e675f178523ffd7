import { expect, test } from "vitest";
import { checkApp } from "../core/app/check.ts";
import { task } from "../index.ts";
import { openMemory } from "../store/memory/index.ts";
import { FakeEnv } from "../testing/index.ts";
import { startWorker } from "./start-worker.ts";

const app = checkApp({ tasks: [task({ id: "say", run: () => "hello" })] });

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
