// Changes to gates by plain SQL neither stop the commands nor spread to other gates.

import { expect, onTestFinished, test } from "vitest";
import type { Finding } from "../../src/api/doctor/check.ts";
import { openStore } from "../../src/api/open-store.ts";
import type { App, Sluice } from "../../src/index.ts";
import { connect, defineApp, task } from "../../src/index.ts";
import { laneOf } from "../../src/store/lane.ts";
import { newTask } from "../../src/testing/store-suite/bench.ts";
import type { Aside } from "../conformance/tables.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";

async function opened(place: Place, app?: App): Promise<{ sluice: Sluice; aside: Aside }> {
  const url = (await place.open()) as string;
  const store = await openStore(url, { migrate: true });
  const sluice = await connect({ store, ...(app ? { app } : {}) });
  onTestFinished(() => sluice.close());
  const aside = await place.beside(url);
  onTestFinished(() => aside.close());
  return { sluice, aside };
}

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("a limit can be set again after its row was deleted, and its history goes on", async () => {
    const { sluice, aside } = await opened(place);
    await sluice.store.declare({ queues: [], gates: [{ key: "pool:gpu", limit: 4, line: "bypass" }] });
    await sluice.limits.set("pool:gpu", 2, "ann");
    await sluice.limits.set("pool:gpu", 3, "ann");
    await aside.query("DELETE FROM sluice_gate WHERE name = 'pool:gpu'");

    expect(await sluice.limits.set("pool:gpu", 7, "bob", { isNew: true })).toEqual({ from: 4, limit: 7 });
    const events = await sluice.store.events("pool:gpu");
    expect(events.map(({ n, data }) => [n, (JSON.parse(data ?? "") as { to: number }).to])).toEqual([
      [1, 2],
      [2, 3],
      [3, 7],
    ]);
    // A reset still goes back to the limit that the app declares.
    expect(await sluice.limits.reset("pool:gpu", "bob")).toEqual({ from: 7, limit: 4 });
  });

  test("a value of a family whose limit was changed by plain SQL says so, also where no app declares that value", async () => {
    const { sluice, aside } = await opened(place);
    await sluice.store.declare({ queues: [], gates: [{ key: "pool:tenant=*", limit: 4, line: "bypass" }] });
    await sluice.store.enqueue([
      newTask("a", { lane: laneOf("mail", "send", [{ gate: "pool:tenant=acme", slots: 1 }]) }),
    ]);
    await sluice.store.takeIn();
    const sourceOf = async () => {
      const found = (await sluice.limits.list()).find(({ key }) => key === "pool:tenant=acme");
      return [found?.source, found?.limit];
    };
    expect(await sourceOf()).toEqual(["default", 4]);
    await aside.query("UPDATE sluice_gate SET capacity = 2 WHERE name = 'pool:tenant=acme'");
    expect(await sourceOf()).toEqual(["sql", 2]);
  });

  test("a row without a name is nobody's family", async () => {
    const { sluice, aside } = await opened(place);
    await sluice.store.declare({ queues: [], gates: [{ key: "pool:smtp", limit: 4, line: "bypass" }] });
    await sluice.store.enqueue([newTask("a")]);
    const limitsBefore = await sluice.limits.list();
    const before = await sluice.explain("a");
    await aside.query(
      "INSERT INTO sluice_gate (name, capacity, declared, paused, line, n) VALUES ('', 0, 0, 1, 'strict', 0)",
    );
    expect(await sluice.limits.list()).toEqual(limitsBefore);
    expect((await sluice.explain("a")).reasons).toEqual(before.reasons);
  });

  test("a limit below -1 drains nothing, and the doctor says that it is none", async () => {
    const { sluice, aside } = await opened(place);
    await sluice.store.declare({ queues: [], gates: [{ key: "pool:db", limit: 4, line: "bypass" }] });
    await aside.query("UPDATE sluice_gate SET capacity = -5 WHERE name = 'pool:db'");
    expect(await sluice.limits.list()).toMatchObject([{ key: "pool:db", limit: -5, draining: false }]);
    expect(await findingsOf(sluice)).toMatchObject([{ verdict: "fail", ids: ["pool:db"] }]);
  });

  test("a limit that is larger than any that can be set is a warning", async () => {
    const { sluice, aside } = await opened(place);
    const gates = ["pool:db", "pool:most"].map((key) => ({ key, limit: 4, line: "bypass" as const }));
    await sluice.store.declare({ queues: [], gates });
    await sluice.limits.set("pool:most", 1_000_000_000);
    await aside.query("UPDATE sluice_gate SET capacity = 9223372036854775807 WHERE name = 'pool:db'");
    expect(await findingsOf(sluice)).toMatchObject([
      {
        verdict: "warn",
        text: expect.stringMatching(/^pool "db": its limit is more than 1000000000, /),
        ids: ["pool:db"],
        remedy: { action: "setLimit", gate: "pool:db" },
      },
    ]);
  });

  test("a pool that an app declares and that is gone is named, and a deploy brings it back", async () => {
    const query = task({ id: "query", pools: { db: 1 }, run: async () => {} });
    const app = defineApp({ name: "shop", tasks: [query], pools: { db: { limit: 3 } } });
    const { sluice, aside } = await opened(place, app);
    await sluice.deploy();
    expect(await findingsOf(sluice)).toEqual([]);
    await aside.query("DELETE FROM sluice_gate WHERE name = 'pool:db'");
    const gone = {
      verdict: "warn",
      text: 'pool "db" is declared by an app, but its limit is not in the store',
      ids: ["pool:db"],
      remedy: { action: "deploy" },
    };
    expect(await findingsOf(sluice)).toMatchObject([gone]);
    // A unit in line asks for the gate, so the next pass creates its row again, without a limit.
    const { id } = await sluice.enqueue(query, undefined);
    const waitedFor = { ...gone, text: `${gone.text}, and units wait for it` };
    expect((await findingsOf(sluice)).filter(({ ids }) => ids)).toMatchObject([waitedFor]);
    await sluice.store.takeIn();
    expect((await sluice.limits.list()).find(({ key }) => key === "pool:db")).toMatchObject({ limit: null });
    expect((await findingsOf(sluice)).filter(({ ids }) => ids)).toMatchObject([waitedFor]);
    expect((await sluice.explain(id)).reasons[0]).toMatchObject({ kind: "unset", gate: "pool:db" });
    await sluice.deploy();
    expect((await findingsOf(sluice)).filter(({ ids }) => ids)).toEqual([]);
    expect((await sluice.limits.list()).find(({ key }) => key === "pool:db")).toMatchObject({ limit: 3 });
  });
});

async function findingsOf(sluice: Sluice): Promise<Finding[]> {
  const { checks } = await sluice.examine();
  return checks.flatMap(({ findings }) => findings);
}
