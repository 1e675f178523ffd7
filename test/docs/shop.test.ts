// `npm start` as a person runs it: the example shop has every limit of the README's table, work waits, and
// Ctrl-C ends it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/index.ts";
import { builtCli, top } from "../support/built-cli.ts";

/** The gate keys in the table, as patterns. Pods need a cluster, and the shop has no child runs. */
const NOT_IN_THE_SHOP = ["run:ID/pods", "run:ID/leaves", "run:ID/children"];
const GATES = readFileSync(join(top, "README.md"), "utf8")
  .split("\n")
  .flatMap((line) => /^\|[^|]+\|[^|]+\| `([^`]+)` \|/.exec(line)?.[1] ?? [])
  .filter((gate) => !NOT_IN_THE_SHOP.includes(gate));

const looksLike = (gate: string): RegExp =>
  new RegExp(`^${gate.replace("*", "\\*").replace(/NAME|KEY|VALUE|STEP|ID|acme/g, "[\\w-]+")}$`);

test("the shop has every limit, and holds it; runs are seen to wait; Ctrl-C ends it in time", {
  timeout: 120_000,
}, async () => {
  await builtCli();
  const folder = mkdtempSync(join(tmpdir(), "sluice-shop-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { npm_lifecycle_event: _, SLUICE_STORE: __, ...env } = process.env;
  const args = [join(top, "scripts/start.mjs"), "--storage-path", folder, "--no-watch"];
  const shop = spawn(process.execPath, args, { cwd: top, env });
  onTestFinished(() => void shop.kill("SIGKILL"));
  let said = "";
  shop.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const until = async (what: () => Promise<boolean> | boolean): Promise<void> => {
    while (!(await what())) {
      expect(shop.exitCode, said).toBeNull();
      await sleep(50);
    }
  };
  await until(() => said.includes("Press Ctrl-C to stop."));

  expect(GATES.length).toBeGreaterThan(10);
  await using sluice = await connect({ store: `file:${join(folder, "sluice.db")}` });
  const unseen = new Set(GATES);
  const waitedFor = new Set<string>();
  await until(async () => {
    for (const { key, limit, held } of await sluice.limits.list())
      if (limit !== null && limit >= 0)
        for (const gate of unseen) {
          // A limit per value (`*`) is held only through its values.
          if (looksLike(gate).test(key) && (held > 0 || gate.endsWith("*"))) unseen.delete(gate);
        }
    for (const { reasons } of await sluice.queue.list())
      for (const reason of reasons)
        if ("gate" in reason) waitedFor.add(reason.gate.split(/[:=]/)[0] as string);
    return unseen.size === 0 && ["runs", "tag", "mutex"].every((kind) => waitedFor.has(kind));
  });
  const sources = new Set((await sluice.runs.list({ limit: 500 })).map(({ source }) => source));
  expect([...sources]).toEqual(expect.arrayContaining(["code", "sensor uploads"]));

  // The README asks why something waits, whenever its reader comes to it: also long after the first rush.
  await until(
    async () => (await sluice.runs.list({ state: "succeeded", workflow: "order", limit: 20 })).length === 20,
  );
  for (let look = 0; look < 30; look += 1) {
    expect((await sluice.queue.page({ limit: 1 })).total).toBeGreaterThan(0);
    await sleep(100);
  }

  shop.kill("SIGINT");
  const [code] = (await Promise.race([once(shop, "exit"), sleep(30_000, ["late"])])) as [number | string];
  expect({ code, said: said.slice(-200) }).toMatchObject({ code: 0 });
});
