// The example of nested workflows runs, and the manual shows it as it is.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import app, { countDown, nightly, publishSite, shipAll } from "../../examples/nested/workflows.ts";
import { connect } from "../../src/index.ts";
import { openMemory } from "../../src/store/memory/index.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const order = (id: string) => ({ id, lines: ["a", "b"] });

test("the example of nested workflows runs", async () => {
  const sluice = await connect({ store: openMemory(), app });
  await sluice.worker();
  const resultOf = async (id: string) => {
    const { state, result, error } = await sluice.runs.ended(id);
    expect([state, error]).toEqual(["succeeded", undefined]);
    return result as never;
  };
  const all = await sluice.submit(shipAll, { orders: [order("x"), order("y")], first: order("w") });
  expect(await resultOf(all.id)).toEqual({
    first: "label of w",
    rest: [{ label: "label of x" }, { label: "label of y" }],
  });
  expect(await resultOf((await sluice.submit(publishSite, undefined)).id)).toBe("published");
  expect(await resultOf((await sluice.submit(countDown, 5)).id)).toBe(2);
  const { site, count } = (await resultOf((await sluice.submit(nightly, [order("z")])).id)) as {
    site: string;
    count: number;
  };
  expect(count).toBe(0);
  expect(await sluice.runs.ended(site)).toMatchObject({ result: "published", tags: { env: "prod" } });
  await sluice.close();
});

test("the manual shows code of the example", () => {
  const section =
    read("docs/workflows.md").split("\n## Workflows in workflows\n")[1]?.split("\n## ")[0] ?? "";
  const blocks = [...section.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
  expect(blocks.length).toBeGreaterThan(3);
  const example = read("examples/nested/workflows.ts").replaceAll(/\s+/g, " ");
  for (const block of blocks) expect(example).toContain(block.trim().replaceAll(/\s+/g, " "));
});
