// Two apps on one store that declare a task or workflow of one name share it. The deploy, the start of a worker
// and the doctor say so.

import { expect, onTestFinished, test } from "vitest";
import type { App, Sluice } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import { describeOn, storeOn } from "../e2e/support/places.ts";

const mail = task({ id: "mail", run: async () => {} });
const bill = task({ id: "bill", run: async () => {} });
const nightly = workflow({ id: "nightly", steps: (s) => s.step("mail", mail) });
const alpha = defineApp({ name: "alpha", tasks: [mail], workflows: [nightly] });
const beta = defineApp({ name: "beta", tasks: [mail, bill], workflows: [nightly] });

const namesIn = async (sluice: Sluice) =>
  (await sluice.examine()).checks.find(({ check }) => check === "names");

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  async function open(): Promise<(app: App) => Promise<Sluice>> {
    const store = await storeOn(place);
    return (app) => connect({ store, app });
  }

  test("a task and a workflow that another app declares are named by the deploy, a starting worker and the doctor", async () => {
    const as = await open();
    const [one, two] = [await as(alpha), await as(beta)];
    expect((await one.deploy()).shared).toEqual([]);
    expect(await namesIn(one)).toMatchObject({ verdict: "ok" });
    const withAlpha = [
      { kind: "task", names: ["mail"], apps: ["alpha"] },
      { kind: "workflow", names: ["nightly"], apps: ["alpha"] },
    ];
    expect((await two.deploy()).shared).toEqual(withAlpha);
    const worker = await one.worker();
    onTestFinished(() => worker.stop({ graceMs: 0 }));
    expect(worker.deployed.shared).toEqual(withAlpha.map((each) => ({ ...each, apps: ["beta"] })));
    expect(await namesIn(two)).toMatchObject({
      verdict: "warn",
      findings: [
        { text: expect.stringMatching(/^task "mail" is declared by app "alpha", app "beta": /) },
        { text: expect.stringMatching(/^workflow "nightly" is declared by app "alpha", app "beta": /) },
      ],
    });
  });

  test("another version of the same app shares nothing, and what its latest deploy dropped is no longer shared", async () => {
    const as = await open();
    await (await as(beta)).deploy();
    const later = defineApp({ name: "beta", tasks: [bill], clusterCap: 3 });
    expect((await (await as(later)).deploy()).shared).toEqual([]);
    const old = await as(beta);
    const worker = await old.worker();
    onTestFinished(() => worker.stop({ graceMs: 0 }));
    expect(worker.deployed).toMatchObject({ inForce: false, shared: [] });
    const one = await as(alpha);
    expect((await one.deploy()).shared).toEqual([]);
    expect(await namesIn(one)).toMatchObject({ verdict: "ok" });
  });

  test("a client that only enqueues another app's task declares nothing, so nobody is warned", async () => {
    const as = await open();
    const [client, owner] = [await as(alpha), await as(beta)];
    await client.enqueue(mail, undefined);
    await client.submit(nightly, undefined);
    expect((await owner.deploy()).shared).toEqual([]);
    await client.enqueue(mail, undefined);
    expect(await namesIn(client)).toMatchObject({ verdict: "ok", findings: [] });
  });
});
