// Two apps with the same name are deployed one after the other. `why` and the doctor name the deploy that
// removed the limits.

import { expect, onTestFinished, test } from "vitest";
import { examine } from "../../src/api/doctor/doctor.ts";
import type { App, Sluice } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import { describeOn, storeOn } from "../e2e/support/places.ts";

const render = task({ id: "render", queue: "gpu", pools: { gpu: 1 }, run: async () => {} });
const mail = task({ id: "mail", pools: { smtp: 1 }, run: async () => {} });
const job = workflow({ id: "job", steps: (s) => s.step("mail", mail) });
const first = defineApp({
  name: "shop",
  tasks: [render],
  queues: { gpu: { maxConcurrency: 3 } },
  pools: { gpu: { limit: 2 } },
});
const second = defineApp({
  name: "shop",
  tasks: [mail],
  workflows: [job],
  pools: { smtp: { limit: 4 } },
});

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  async function open(): Promise<(app: App) => Promise<Sluice>> {
    const store = await storeOn(place);
    return (app) => connect({ store, app });
  }

  test("why says which deploy left a pool out, and the doctor says so too", async () => {
    const as = await open();
    const one = await as(first);
    const two = await as(second);
    await one.deploy();
    const { id } = await one.enqueue(render, undefined);
    await two.deploy();

    const { reasons, sentences } = await one.explain(id);
    expect(reasons[0]).toMatchObject({
      kind: "unset",
      gate: "pool:gpu",
      replaced: { app: "shop", limit: 2 },
    });
    expect(sentences[0]?.text).toMatch(
      /^pool "gpu" no longer has a limit, so it admits nothing: a later deploy of app "shop", at \S+, does not declare it; it was 2 before\. Give each app its own name/,
    );
    const { checks } = await examine(one.store);
    const findings = checks.flatMap(({ check, findings }) => (check === "deploys" ? findings : []));
    expect(findings).toMatchObject([
      {
        ids: ["pool:gpu"],
        verdict: "warn",
        text: expect.stringMatching(
          /^pool "gpu" no longer has a limit, and units wait for it: a later deploy/,
        ),
      },
    ]);

    await one.deploy();
    expect((await one.explain(id)).reasons.map(({ kind }) => kind)).toEqual(["noWorker"]);
  });

  test("the doctor names a queue that a live worker serves and no app declares any more", async () => {
    const as = await open();
    const one = await as(first);
    const worker = await one.worker();
    onTestFinished(() => worker.stop({ graceMs: 0 }));
    await (await as(second)).deploy();
    const { checks } = await examine(one.store);
    expect(checks.find(({ check }) => check === "deploys")?.findings).toMatchObject([
      {
        ids: ["queue:gpu"],
        text: expect.stringMatching(/^queue "gpu" is served by a live worker, but no app/),
      },
    ]);
  });

  test("the doctor says which value is in force where apps are at odds and an operator has set another one", async () => {
    const as = await open();
    const one = await as(first);
    await one.deploy();
    const other = await as(
      defineApp({ name: "web", tasks: [render], queues: { gpu: {} }, pools: { gpu: { limit: 7 } } }),
    );
    await other.deploy();
    const text = async () =>
      (await examine(one.store)).checks.find(({ check }) => check === "apps")?.findings[0]?.text;
    expect(await text()).toMatch(/the strictest is in force, 2$/);
    await one.limits.set("pool:gpu", 9, "ann");
    expect(await text()).toMatch(/9 is in force, set by ann, not the strictest of these, 2$/);
  });

  test("the doctor sees a run in progress that no worker moves on", async () => {
    const as = await open();
    const two = await as(second);
    await two.deploy();
    const { id } = await two.execute(job, undefined);
    expect((await two.runs.get(id))?.state).toBe("notStarted");
    const { checks } = await examine(two.store);
    expect(checks.find(({ check }) => check === "workers")?.findings).toMatchObject([
      { text: "1 run in progress: no worker is running, so no run is admitted or advanced" },
    ]);
  });
});
