// Steps that wait, across the end of every process: what waits is only in the store.

import { writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import type { Sluice } from "../../src/index.ts";
import { connect } from "../../src/index.ts";
import { loadApp } from "../../src/surface/cli/load-app.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import type { Project } from "../process/support/worker-command.ts";
import { newProject, startWorker } from "../process/support/worker-command.ts";
import { statesOf } from "../runs/support/world.ts";
import { bundledCli } from "../support/bundled-package.ts";

const APP = `
import { defineApp, event, task, workflow } from "sluice";
const paid = event({ id: "paid" });
const note = task({ id: "note", run: (input) => input });
const send = task({
  id: "send",
  run: async ({ many }, { client }) => {
    let woken = 0;
    for (let n = 0; n < many; n += 50)
      for (const sent of await Promise.all(
        Array.from({ length: 50 }, (_, one) => client.signal("paid", { order: n + one })),
      )) woken += sent.woken;
    return { woken, pid: process.pid };
  },
});
const waiting = workflow({
  id: "waiting",
  steps: (s, input) => {
    const nap = s.sleep("nap", "4s");
    const time = s.until("time", input.time);
    const answer = s.approve("answer", { question: "Now?", by: ["ana"] });
    const no = s.approve("no", { question: "Never?", mayFail: true });
    const payment = s.waitFor("payment", paid, { match: { order: input.order } });
    const never = s.waitFor("never", "never", { timeout: "4s", otherwise: "late" });
    const first = s.step("first", note, 1, { after: [payment] });
    const again = s.waitFor("again", paid, { match: { order: input.order }, after: [first] });
    const all = { by: answer.output.by, paid: payment.output, again: again.output, never: never.output };
    return s.step("last", note, all, { after: [nap, time, no.failed] });
  },
});
const buying = workflow({ id: "buying", steps: (s, input) => s.waitFor("paid", paid, { match: { order: input } }) });
export default defineApp({
  tasks: [note, send],
  workflows: [waiting, buying],
  runs: { max: 5000 },
  queues: { default: {}, one: {}, two: {} },
  session: { lease: "2s", heartbeat: "400ms" },
});
`;

async function theApp(store: string): Promise<{ project: Project; sluice: Sluice }> {
  const project = newProject(0);
  writeFileSync(project.app, APP);
  await bundledCli();
  const { app } = await loadApp(project.app);
  const sluice = await connect({ store, app, migrate: true });
  onTestFinished(() => sluice.close());
  return { project, sluice };
}

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("every kind of wait outlives every process", { timeout: 60_000 }, async () => {
    const store = (await place.open()) as string;
    const { project, sluice } = await theApp(store);
    const time = new Date((await sluice.now()) + 4_000).toISOString();
    const { id } = await sluice.submit("waiting", { order: 7, time } as never);
    const first = await startWorker(project, "--store", store, "--processes=1");
    const waits = ["nap", "time", "answer", "no", "payment", "never"];
    // On a busy machine, a time may be over before all of them were seen to wait.
    const begun = ["waiting", "succeeded"];
    await until(async () => {
      const states = await statesOf(sluice, id);
      return waits.every((step) => begun.includes(states[step] ?? ""));
    }, "all of them wait");
    process.kill(first.pid, "SIGKILL");
    await first.ended;
    await sluice.close();
    const other = await connect({ store, app: (await loadApp(project.app)).app });
    onTestFinished(() => other.close());
    await other.runs.approve(id, "answer", { by: "ana" });
    await other.runs.reject(id, "no", { by: "bob", note: "not yet" });
    // One answers the step that waits. The other stays for the step that begins to wait later.
    expect(await other.signal("paid", { order: 7, n: 1 })).toMatchObject({ woken: 1 });
    expect(await other.signal("paid", { order: 7, n: 2 })).toMatchObject({ woken: 0 });
    await startWorker(project, "--store", store, "--processes=1");
    const run = await other.runs.ended(id);
    expect(run).toMatchObject({
      state: "succeeded",
      result: { by: "ana", paid: { order: 7, n: 1 }, again: { order: 7, n: 2 }, never: "late" },
    });
    const { broken } = await other.store.inspect();
    expect(Object.values(broken).flatMap(({ ids }) => ids)).toEqual([]);
  });

  test("a thousand signals, each sent by two processes, wake each of a thousand steps once", {
    timeout: 300_000,
  }, async () => {
    const store = (await place.open()) as string;
    const { project, sluice } = await theApp(store);
    const many = 1_000;
    for (let n = 0; n < many; n += 1) await sluice.submit("buying", n as never);
    for (const queue of ["one", "two"])
      await startWorker(project, "--store", store, "--processes=1", `--queues=${queue}`);
    const isWaiting = async () =>
      (await sluice.runs.list({ state: "started", limit: 2_000 })).length === many;
    await until(isWaiting, "all of them wait", 120_000);
    const senders = await Promise.all(
      ["one", "two"].map((queue) => sluice.enqueue("send", { many }, { queue })),
    );
    const sent = await Promise.all(senders.map(({ id }) => sluice.ended(id)));
    const results = sent.map(({ result }) => result as { woken: number; pid: number });
    expect(new Set(results.map(({ pid }) => pid)).size).toBe(2);
    expect(results.reduce((sum, { woken }) => sum + woken, 0)).toBe(many);
    const runs = async () => sluice.runs.list({ workflow: "buying", limit: 2_000 });
    await until(
      async () => (await runs()).every(({ state }) => state === "succeeded"),
      "all of them end",
      120_000,
    );
    const paid = (await runs()).map(({ input, result }) => [input, (result as { order: number }).order]);
    expect(paid.filter(([input, order]) => input !== order)).toEqual([]);
    const { broken } = await sluice.store.inspect();
    expect(Object.values(broken).flatMap(({ ids }) => ids)).toEqual([]);
  });
});
