// The client in the context of a task: it enqueues, submits and reads in the name of the task.

import { writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import type { Reference, TaskContext } from "../../src/index.ts";
import { connect, RetryAfter, task, workflow } from "../../src/index.ts";
import { loadApp } from "../../src/surface/cli/load-app.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { newProject, startWorker } from "../process/support/worker-command.ts";
import { working } from "../runs/support/world.ts";
import { bundledCli } from "../support/bundled-package.ts";

const mail = task({ id: "mail", run: (to: string) => to });
const noted = workflow({ id: "noted", steps: (s, to: Reference<string>) => s.step("mail", mail, to) });

/** A task that does as it is told, three times if it wants to. */
const asking = (run: (context: TaskContext) => Promise<unknown>) =>
  task({ id: "ask", retry: { attempts: 3, delay: "0ms" }, run: (_: unknown, context) => run(context) });

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a call with a key happens once for its task, however many attempts it takes", async () => {
    const answers: unknown[] = [];
    const ask = asking(async ({ attempt, client }) => {
      answers.push(await client.enqueue(mail, "a", { key: "mail a" }));
      answers.push(await client.submit(noted, "b", { key: "mail b", tags: { to: "b" } }));
      await client.enqueue(mail, `each ${attempt}`);
      if (attempt < 3) throw new RetryAfter("0ms");
    });
    const sluice = await working(place, { tasks: [ask, mail], workflows: [noted] });
    const [one, two] = [await sluice.enqueue(ask, {}), await sluice.enqueue(ask, {})];
    for (const { id } of [one, two])
      expect(await sluice.ended(id)).toMatchObject({ state: "succeeded", attempt: 3 });
    const sent = async () => (await sluice.list({ name: "mail" })).map(({ input }) => input).sort();
    const runs = await sluice.runs.list();
    await Promise.all(runs.map(({ id }) => sluice.runs.ended(id)));
    expect(await sent()).toEqual(["a", "a", "b", "b", ...[1, 1, 2, 2, 3, 3].map((n) => `each ${n}`)]);
    expect(runs.map(({ source }) => source).sort()).toEqual([one, two].map(({ id }) => `task ${id}`).sort());
    expect(runs.map(({ tags }) => tags)).toEqual([{ to: "b" }, { to: "b" }]);
    expect(answers.filter((each) => (each as { created: boolean }).created)).toHaveLength(4);
  });

  test("it reads its own run, and knows its step", async () => {
    const look = task({
      id: "look",
      run: async (_: unknown, { run, step, client }) => {
        const own = await client.run();
        const states = own?.steps.map(({ name, state, result }) => [name, state, result ?? null]);
        return { same: own?.id === run, step, input: own?.input, states };
      },
    });
    const both = workflow({
      id: "both",
      steps: (s, to: Reference<string>) => {
        const sent = s.step("sent", mail, to);
        return s.step("look", look, {}, { after: [sent.succeeded] });
      },
    });
    const sluice = await working(place, { tasks: [mail, look], workflows: [both] });
    const { id } = await sluice.submit(both, "a");
    expect((await sluice.runs.ended(id)).result).toEqual({
      same: true,
      step: "look",
      input: "a",
      states: [
        ["sent", "succeeded", "a"],
        ["look", "running", null],
      ],
    });
    const alone = await sluice.enqueue(look, {});
    expect((await sluice.ended(alone.id)).result).toEqual({ same: true });
  });

  test("it refuses what a program is refused", async () => {
    const codes: unknown[] = [];
    const ask = asking(async ({ client }) => {
      const wrong = [
        () => client.enqueue("nobody", {} as never),
        () => client.submit("nobody", {}),
        () => client.enqueue(mail, "a", { key: "k", idempotencyKey: "i" }),
        () => client.enqueue(mail, "a", { key: "" }),
        () => client.enqueue(mail, "a", { keys: "k" } as never),
        () => client.enqueue(mail, "a", { queue: "nowhere" }),
      ];
      for (const call of wrong) codes.push(await call().catch(({ code }) => code));
    });
    const sluice = await working(place, { tasks: [ask, mail], workflows: [noted] });
    await sluice.ended((await sluice.enqueue(ask, {})).id);
    expect(codes).toEqual([
      "UNKNOWN_TASK",
      "UNKNOWN_WORKFLOW",
      "BAD_OPTIONS",
      "BAD_TEXT",
      "BAD_OPTIONS",
      "UNKNOWN_QUEUE",
    ]);
    expect(await sluice.list({ name: "mail" })).toEqual([]);
  });
});

const CHILD_APP = `
import { defineApp, task, workflow } from "sluice";
const mail = task({ id: "mail", run: (to) => to });
const ask = task({
  id: "ask",
  cpu: true,
  retry: { attempts: 2, delay: "0ms" },
  run: async (_, { attempt, client, run, step }) => {
    const first = await client.enqueue(mail, "a", { key: "a", runAt: new Date(0) });
    if (attempt === 1) process.kill(process.pid, "SIGKILL");
    const wrong = await client.enqueue("nobody", {}).catch(({ name, code }) => ({ name, code }));
    const own = await client.run();
    return { created: first.created, wrong, step, same: own.id === run, pid: process.pid };
  },
});
const asking = workflow({ id: "asking", steps: (s) => s.step("ask", ask, {}) });
export default defineApp({ tasks: [mail, ask], workflows: [asking] });
`;

describeOn(["sqlite"], (place) => {
  test("code in a child process has the same client, and a key outlives its process", async () => {
    const project = newProject(0);
    writeFileSync(project.app, CHILD_APP);
    await bundledCli();
    const { app } = await loadApp(project.app);
    const store = (await place.open()) as string;
    const sluice = await connect({ store, app, migrate: true });
    onTestFinished(() => sluice.close());
    const { id } = await sluice.submit("asking", undefined as never);
    const worker = await startWorker(project, "--store", store, "--processes=1");
    const { result } = await sluice.runs.ended(id);
    expect(result).toMatchObject({
      created: false,
      wrong: { name: "SluiceError", code: "UNKNOWN_TASK" },
      step: "ask",
      same: true,
    });
    expect((result as { pid: number }).pid).not.toBe(worker.pid);
    await until(async () => (await sluice.list({ name: "mail" }))[0]?.state === "succeeded", "it was sent");
    expect(await sluice.list({ name: "mail" })).toHaveLength(1);
  });
});
