// "My task does not run": each usual cause is explained in plain words, and the command it names fixes it.

import { expect, onTestFinished, test } from "vitest";
import type { Sluice } from "../../src/index.ts";
import { connect, defineApp, task } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { until } from "../e2e/support/until.ts";
import { freshSqlite } from "../support/databases.ts";
import { gives, newProject, says } from "./terminal.ts";

test("the cluster cap is reached", async () => {
  const { why, sluice, mend, enqueue } = await shop({ clusterCap: 1, workers: 1 });
  const first = await enqueue();
  await running(sluice, first);
  const id = await enqueue();
  const { text, data } = await why(id);
  expect(text).toMatch(
    new RegExp(`^  the cluster cap is full: 1 of 1 slots held \\(by ${first} mail for \\w+\\)$`, "m"),
  );
  expect(data.reasons).toMatchObject([{ kind: "full", gate: "cluster", held: 1, limit: 1 }]);
  expect(await mend(text)).toBe("limits set cluster 2");
  await running(sluice, id);
});

test("the cap of its queue is reached", async () => {
  const { why, sluice, mend, enqueue } = await shop({ cap: 1, workers: 1 });
  await running(sluice, await enqueue());
  const id = await enqueue();
  const { text } = await why(id);
  expect(text).toMatch(/^ {2}queue "post" is full: 1 of 1 slots held /m);
  expect(await mend(text)).toBe("limits set queue:post 2");
  await running(sluice, id);
});

test("its queue is paused", async () => {
  const { why, sluice, mend, enqueue } = await shop({ workers: 1 });
  await sluice.queues.pause("post");
  const id = await enqueue();
  const { text } = await why(id);
  expect(text).toMatch(/^ {2}queue "post" is paused$/m);
  expect(await mend(text)).toBe("queues resume post");
  await running(sluice, id);
});

test("its queue is paused by a limit of 0, which resuming would not change", async () => {
  const { why, sluice, mend, enqueue } = await shop({ workers: 1 });
  await sluice.limits.set("queue:post", 0);
  const id = await enqueue();
  const { text } = await why(id);
  expect(text).toMatch(/^ {2}queue "post" is paused by its limit of 0$/m);
  expect(await mend(text)).toBe("limits reset queue:post");
  await running(sluice, id);
});

test("nobody serves it", async () => {
  const { why, enqueue } = await shop({ workers: 0 });
  const { text, data } = await why(await enqueue());
  expect(text).toMatch(
    /^ {2}no live worker serves queue "post" and knows task "mail", which is a task of app "sluice"\n {6}npx sluice worker app\.js --queues=post --store /m,
  );
  expect(data.reasons).toEqual([{ kind: "noWorker", queue: "post", name: "mail", apps: ["sluice"] }]);
});

test("it has expired", async () => {
  const { why, sluice, mend, enqueue } = await shop({ workers: 1, paused: true });
  const id = await enqueue({ goodUntil: "1ms" });
  await until(async () => (await sluice.get(id))?.state === "expired", "it expires");
  const { text, data } = await why(id);
  expect(text).toMatch(/^mail \w+ expired \w+ ago: its deadline \S+Z passed before it could start\.\n/);
  expect(data).toMatchObject({ state: "expired", reasons: [], ending: expect.stringMatching(/^expired /) });
  await sluice.queues.resume("post");
  expect(await mend(text)).toBe(`tasks retry ${id}`);
  await running(sluice, id);
});

interface Shop {
  readonly clusterCap?: number;
  readonly cap?: number;
  readonly workers: number;
  readonly paused?: boolean;
}

/** A store with a single kind of task, which runs until the test ends. */
async function shop({ clusterCap, cap = 9, workers, paused }: Shop) {
  const over = deferred();
  const mail = task({ id: "mail", queue: "post", run: () => over.promise });
  const app = defineApp({
    tasks: [mail],
    queues: { post: { maxConcurrency: cap } },
    ...(clusterCap ? { clusterCap } : {}),
  });
  const store = `file:${await freshSqlite()}`;
  const sluice = await connect({ store, app, migrate: true });
  await sluice.deploy();
  onTestFinished(async () => {
    over.resolve();
    await sluice.close();
  });
  if (paused) await sluice.queues.pause("post");
  for (let n = 0; n < workers; n += 1) await sluice.worker({ slots: 5, poll: "50ms", pollJitter: "0ms" });
  const project = newProject();
  return {
    sluice,
    enqueue: async (options: { goodUntil?: string } = {}) =>
      (await sluice.enqueue(mail, undefined, options)).id,
    why: async (id: string) => ({
      text: await says(project, "why", id, "--store", store),
      data: await gives(project, "why", id, "--store", store),
    }),
    /** Runs the first command that `text` names, and returns its words without the store. */
    mend: async (text: string): Promise<string> => {
      const words = /npx sluice (.*?) --store /.exec(text)?.[1] ?? "";
      await says(project, ...words.split(" "), "--store", store);
      return words;
    },
  };
}

const running = (sluice: Sluice, id: string): Promise<unknown> =>
  until(async () => (await sluice.get(id))?.state === "running", `${id} runs`);
