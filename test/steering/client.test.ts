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

  test("a key that is too long is refused with the limit of the key itself", async () => {
    const answers: unknown[] = [];
    const ask = asking(async ({ client }) => {
      for (const key of ["k".repeat(190), "k".repeat(169), "k".repeat(168), "é".repeat(84)])
        answers.push(await client.enqueue(mail, "a", { key }).catch(({ code, message }) => [code, message]));
    });
    const sluice = await working(place, { tasks: [ask, mail], workflows: [noted] });
    const { id } = await sluice.enqueue(ask, {});
    await sluice.ended(id);
    const refused = (bytes: number): unknown => [
      "BAD_TEXT",
      expect.stringMatching(
        `^task "mail": key is too long: it has ${bytes} bytes, and ${190 - id.length} are allowed. Got "kkk`,
      ),
    ];
    expect(id).toHaveLength(22);
    const created = expect.objectContaining({ created: true });
    expect(answers).toEqual([refused(190), refused(169), created, created]);
    expect(JSON.stringify(answers)).not.toContain(`${id}/`);
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

  test.each(["here", "child"])(
    "a call that nobody awaits is answered, and a late one refused: %s",
    async (at) => {
      const project = newProject(0);
      writeFileSync(project.app, at === "child" ? OPEN_CALLS : OPEN_CALLS.replaceAll("cpu: true,", ""));
      await bundledCli();
      const { app } = await loadApp(project.app);
      const store = (await place.open()) as string;
      const sluice = await connect({ store, app, migrate: true });
      onTestFinished(() => sluice.close());
      if (at === "child") await startWorker(project, "--store", store, "--processes=1");
      else await sluice.worker();
      await sluice.ended((await sluice.enqueue("ask", {} as never)).id);
      const { result } = await sluice.ended((await sluice.enqueue("tell", {} as never)).id);
      const { pid, ...seen } = result as { readonly pid: number };
      expect(pid === process.pid).toBe(at === "here");
      expect(seen).toEqual({ open: true, late: "TASK_ENDED" });
      expect(await sluice.list({ name: "mail" })).toHaveLength(1);
    },
  );
});

const OPEN_CALLS = `
import { defineApp, task } from "sluice";
const mail = task({ id: "mail", run: (to) => to });
const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
const seen = {};
const ask = task({
  id: "ask",
  cpu: true,
  run: async (_, { client }) => {
    client.enqueue(mail, "a").then(({ created }) => { seen.open = created; });
    setTimeout(() => client.enqueue(mail, "b").catch(({ code }) => { seen.late = code; }), 200);
  },
});
const tell = task({
  id: "tell",
  cpu: true,
  run: async () => {
    for (let wait = 0; wait < 2000 && !(seen.open && seen.late); wait += 1) await pause();
    return { pid: process.pid, ...seen };
  },
});
export default defineApp({ tasks: [mail, ask, tell] });
`;
