// What somebody did to the gates by plain SQL neither stops the commands nor spreads to other gates.

import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/api/open-store.ts";
import type { Sluice } from "../../src/index.ts";
import { connect } from "../../src/index.ts";
import { newTask } from "../../src/testing/store-suite/bench.ts";
import type { Aside } from "../conformance/tables.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";

async function opened(place: Place): Promise<{ sluice: Sluice; aside: Aside }> {
  const url = (await place.open()) as string;
  const store = await openStore(url, { migrate: true });
  const sluice = await connect({ store });
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
    // What the app declares is still what it goes back to.
    expect(await sluice.limits.reset("pool:gpu", "bob")).toEqual({ from: 7, limit: 4 });
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
});
