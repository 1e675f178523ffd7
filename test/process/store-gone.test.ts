// The file of an embedded store disappears while processes have it open.

import { copyFileSync, renameSync, rmSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect, defineApp, task } from "../../src/index.ts";
import { loadApp } from "../../src/surface/cli/load-app.ts";
import { until } from "../e2e/support/until.ts";
import { bundledCli } from "../support/bundled-package.ts";
import { freshSqlite } from "../support/databases.ts";
import { openWitness } from "../support/open-witness.ts";
import { newProject, startWorker } from "./support/worker-command.ts";

async function world() {
  const witness = await openWitness();
  const file = await freshSqlite();
  const project = newProject(witness.port);
  // The app imports the built package.
  await bundledCli();
  const { app } = await loadApp(project.app);
  const open = async () => {
    const sluice = await connect({ store: `file:${file}`, app });
    onTestFinished(() => sluice.close());
    return sluice;
  };
  const work = () => startWorker(project, "--store", `file:${file}`, "--processes=1");
  const inside = (id: string) => witness.until((seen) => seen.startsOf(id).length > 0, `${id} has started`);
  return { witness, file, open, work, inside };
}

const WAYS: readonly (readonly [how: string, lose: (file: string) => void])[] = [
  ["deleted", (file) => rmSync(file)],
  ["deleted with its folder", (file) => rmSync(dirname(file), { recursive: true })],
  ["emptied", (file) => truncateSync(file)],
  ["moved", (file) => renameSync(file, `${file}.moved`)],
  [
    "replaced",
    (file) => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
  ],
];

test.each(WAYS)(
  "a worker whose file was %s says so once, aborts what it runs, and ends with 1",
  async (_, lose) => {
    const { witness, file, open, work, inside } = await world();
    const sluice = await open();
    const worker = await work();
    const { id } = await sluice.enqueue("errand", { hold: true } as never);
    await inside(id);
    lose(file);
    expect(await worker.ended).toBe(1);
    const said = worker.output.split("\n").filter((line) => line.includes("STORE_GONE"));
    expect(said).toEqual([
      expect.stringMatching(
        /^error STORE_GONE: The file \S+sluice\.db was deleted, moved, replaced or emptied/,
      ),
    ]);
    expect(worker.output).toContain(`The store is gone. Aborted: ${id}.`);
    await witness.until((seen) => seen.inside.length === 0, "its code has ended");
  },
);

test("no call on the lost file is acknowledged, and a worker in the same process stops by itself", async () => {
  const file = await freshSqlite();
  const aborted: unknown[] = [];
  const stay = task({
    id: "stay",
    run: (_: undefined, { signal }) =>
      new Promise<void>((end) => {
        signal.addEventListener("abort", () => {
          aborted.push(signal.reason);
          end();
        });
      }),
  });
  const app = defineApp({ tasks: [stay] });
  await using sluice = await connect({ store: `file:${file}`, app });
  const gone: unknown[] = [];
  const worker = await sluice.worker({
    watch: (event) => {
      if (event.kind === "storeGone") gone.push(event.error);
    },
  });
  const { id } = await sluice.enqueue(stay, undefined);
  await until(() => worker.running === 1, "it runs");
  rmSync(file);
  const refused = { code: "STORE_GONE" };
  await expect(sluice.enqueue(stay, undefined)).rejects.toMatchObject(refused);
  await expect(sluice.get(id)).rejects.toMatchObject(refused);
  await expect(sluice.ended(id)).rejects.toMatchObject(refused);
  await expect(sluice.limits.list()).rejects.toMatchObject(refused);
  await until(() => gone.length > 0 && worker.running === 0, "it has stopped");
  expect([gone, worker.session]).toEqual([[expect.objectContaining(refused)], undefined]);
  expect(aborted).toEqual([expect.objectContaining({ code: "LEASE_LOST" })]);
  // The path can be used again. The old handle cannot, even if there is a new file.
  await using another = await connect({ store: `file:${file}`, app });
  await another.enqueue(stay, undefined);
  await expect(sluice.now()).rejects.toMatchObject(refused);
});
