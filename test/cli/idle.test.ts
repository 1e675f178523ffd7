// `sluice limits list` and `sluice pools list` on a store with a gate for each of many values.

import { describe, expect, test } from "vitest";
import { openWorkshop } from "./workshop.ts";

const shop = openWorkshop();

describe("limits list", () => {
  test("leaves out idle values that have only the limit of their family, and says how to see them", async () => {
    for (const tenant of ["a", "b", "c"]) {
      const args = ["app.js", "plain", '{"n":1}', "--tag", `tenant=${tenant}`];
      const { id } = await shop.data("submit", ...args);
      await shop.reaches(id, "succeeded");
    }
    await shop.sluice.limits.set("tag:tenant=c", 3, "ann");
    const tags = async (...options: string[]): Promise<string[]> =>
      (await shop.data("limits", "list", "tag:tenant=", ...options)).map(({ key }: { key: string }) => key);
    expect(await tags()).toEqual(["tag:tenant=*", "tag:tenant=c"]);
    expect(await tags("--all")).toEqual(["tag:tenant=*", "tag:tenant=a", "tag:tenant=b", "tag:tenant=c"]);
    const text = await shop.table("limits", "list");
    expect(text).not.toContain("tag:tenant=a");
    expect(text).toContain("pool:database");
    expect(text).toContain(
      "\n3 gates left out: idle, with only the limit per value. To see all: npx sluice limits list --all\n",
    );
    expect(await shop.table("limits", "list", "--all")).toMatch(/^tag:tenant=a +0\/1 +\w+ +per value/m);
    expect(await shop.table("limits", "list", "tag:tenant=a")).toBe(
      "1 gate left out: idle, with only the limit per value. To see all: npx sluice limits list --all\n",
    );
    expect(await shop.table("limits", "list", "nothing")).toBe('No gate begins with "nothing".\n');
  }, 30_000);
});

describe("pools list", () => {
  test("has the same filter", async () => {
    await shop.sluice.pools.set("carrier=*", 2, { isNew: true });
    expect(await shop.table("pools", "list", "data")).toMatch(/^POOL .*\ndatabase .*\n$/);
    expect(await shop.table("pools", "list", "nothing")).toBe('No pool begins with "nothing".\n');
    const names = (await shop.data("pools", "list", "--all")).map(({ name }: { name: string }) => name);
    expect(names).toEqual(["carrier=*", "database"]);
  });
});
