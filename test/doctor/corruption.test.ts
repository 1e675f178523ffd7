// Breaks each invariant by plain SQL, one at a time, on every database. The doctor finds that one and no
// other.

import { expect, onTestFinished, test } from "vitest";
import type { Check } from "../../src/api/doctor/check.ts";
import { examine } from "../../src/api/doctor/doctor.ts";
import { openStore } from "../../src/api/open-store.ts";
import type { Store } from "../../src/index.ts";
import type { Aside } from "../conformance/tables.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { CORRUPTIONS, populate } from "./corruptor.ts";

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("a store with a task in every place is well", async () => {
    const { store } = await populated(place);
    const { verdict, checks } = await examine(store);
    expect(findingsOf(checks)).toEqual([]);
    expect(verdict).toBe("ok");
    expect(checks.find(({ check }) => check === "size")?.says).toBe(
      "2 waiting, 1 later, 1 running, 1 outcome, 0 events",
    );
  });

  test.each(CORRUPTIONS)("$name", async ({ first, sql, remedy, finds: [check, verdict, text, ids] }) => {
    const { store, aside } = await populated(place);
    await first?.(store);
    expect(findingsOf((await examine(store)).checks)).toEqual([]);
    for (const statement of sql)
      await aside.query(typeof statement === "string" ? statement : statement(store.kind));

    const diagnosis = await examine(store, { sleep: async () => {} });
    expect(findingsOf(diagnosis.checks)).toEqual([
      { check, verdict, text: expect.stringMatching(text), ...(ids ? { ids } : {}) },
    ]);
    expect(diagnosis.verdict).toBe(verdict);
    const [finding] = diagnosis.checks.flatMap(({ findings }) => findings);
    if (remedy !== undefined) expect(finding?.remedy ?? null).toEqual(remedy);
  });

  test("of many it names ten, and says that there are more", async () => {
    const { store, aside } = await populated(place);
    for (let n = 10; n < 25; n += 1)
      await aside.query(`INSERT INTO sluice_deadline (id, at) VALUES ('ghost${n}', 9000000000000)`);
    const [finding] = (await examine(store)).checks.flatMap(({ findings }) => findings);
    expect(finding).toMatchObject({ more: true });
    expect(finding?.ids).toHaveLength(10);
  });
});

async function populated(place: Place): Promise<{ store: Store; aside: Aside }> {
  const url = (await place.open()) as string;
  const store = await openStore(url, { migrate: true });
  onTestFinished(() => store.close());
  const aside = await place.beside(url);
  onTestFinished(() => aside.close());
  await populate(store);
  return { store, aside };
}

function findingsOf(checks: readonly Check[]): object[] {
  return checks.flatMap(({ check, findings }) =>
    findings.map(({ verdict, text, ids }) => ({ check, verdict, text, ...(ids ? { ids } : {}) })),
  );
}
