// Limits of semaphores from files, commands and SQL, while many runs wait.

import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { WorkerSettings } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";

const KEY = "semaphore:default/my-config/workflow";

const mapOf = (data: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n name: my-config\ndata:\n${data}`;

/** Written elsewhere and moved, so nobody reads half of it. */
function write(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

function busy() {
  let inside = 0;
  let over = 0;
  const steps = new Set<() => void>();
  const hold = task({
    id: "hold",
    run: async () => {
      const end = deferred<void>();
      inside += 1;
      over = Math.max(over, inside);
      steps.add(() => end.resolve());
      await end.promise;
      inside -= 1;
    },
  });
  return {
    hold,
    inside: () => inside,
    /** Ends one of them. */
    endOne: (): void => {
      const [end] = steps;
      if (end) steps.delete(end);
      end?.();
    },
    endAll: (): void => {
      for (const end of steps) end();
      steps.clear();
    },
    steps,
  };
}

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("raising, lowering, zeroing and deleting a limit by file, command and SQL is right at every step while 200 runs wait", {
    timeout: 180_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-locks-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "limits.yaml");
    write(file, mapOf('  workflow: "2"\n'));
    const { hold, inside, endOne, endAll, steps } = busy();
    const holding = workflow({
      id: "holding",
      semaphores: ["my-config/workflow"],
      steps: (s) => s.step("hold", hold),
    });
    const app = defineApp({
      tasks: [hold],
      workflows: [holding],
      runs: { max: -1 },
      locks: { configMaps: ["*.yaml"] },
    });
    const store = await place.open();
    const sluice = await connect({ store, app, migrate: true });
    onTestFinished(() => sluice.close({ graceMs: 0 }));
    const errors: unknown[] = [];
    const settings: WorkerSettings = {
      slots: 30,
      poll: "50ms",
      pollJitter: "0ms",
      file: join(folder, "app.ts"),
      watch: (event) => event.kind === "error" && errors.push(event.error),
    };
    await sluice.worker(settings);
    const runs = await Promise.all(Array.from({ length: 200 }, () => sluice.submit(holding, undefined)));
    const are = (count: number, why: string) =>
      until(() => inside() === count, `${count} are inside: ${why}`);
    const view = async () => (await sluice.limits.list()).find(({ key }) => key === KEY);
    await are(2, "the file says so");
    expect(await view()).toMatchObject({ limit: 2, held: 2, source: "file" });

    write(file, mapOf('  workflow: "5"\n'));
    await are(5, "the file raises it");
    write(file, mapOf('  workflow: "3"\n'));
    await until(async () => (await view())?.limit === 3, "the file lowers it");
    endOne();
    await are(4, "nobody is evicted, and nobody comes in");
    endOne();
    await are(3, "it drains");
    await sluice.limits.set(KEY, 6, "ana");
    await are(6, "an operator raises it");
    expect(await view()).toMatchObject({ limit: 6, source: "operator" });
    // A worker that starts with the same file leaves the operator's limit.
    const again = await sluice.worker(settings);
    expect(await view()).toMatchObject({ limit: 6, setBy: "ana" });
    await again.stop();
    await sluice.limits.set(KEY, 0, "ana");
    for (let count = 5; count >= 0; count -= 1) {
      endOne();
      await are(count, "0 admits nobody");
    }
    write(file, mapOf('  workflow: "4"\n  other: "1"\n'));
    await are(4, "the file says something new, so it wins");
    expect(await view()).toMatchObject({ limit: 4, source: "file", setBy: null });
    write(file, mapOf("  workflow: many\n"));
    await until(() => errors.length > 0, "a wrong file is reported");
    expect(String(errors[0])).toMatch(/limits\.yaml: ConfigMap "my-config": workflow must be a limit/);
    expect(await view()).toMatchObject({ limit: 4 });
    write(file, mapOf('  other: "1"\n'));
    await until(async () => (await view())?.limit === null, "the key is gone, so the limit is unset");
    endAll();
    await are(0, "nobody comes in while it is unset");
    const waiting = await until(
      async () => (await sluice.runs.list({ state: "queued", limit: 1 }))[0],
      "the others wait",
    );
    expect((await sluice.explain(waiting.id)).reasons).toMatchObject([{ kind: "unset", gate: KEY }]);

    const beside = await place.beside(store as string);
    onTestFinished(() => beside.close());
    await beside.query(`UPDATE sluice_gate SET capacity = 7 WHERE name = '${KEY}'`);
    await are(7, "plain SQL sets it");
    await beside.query(`UPDATE sluice_gate SET capacity = 20 WHERE name = '${KEY}'`);
    await are(20, "plain SQL raises it");
    await beside.query(`UPDATE sluice_gate SET capacity = -1 WHERE name = '${KEY}'`);
    const ending = setInterval(() => steps.size > 0 && endAll(), 5);
    onTestFinished(() => clearInterval(ending));
    for (const { id } of runs) expect((await sluice.runs.ended(id)).state).toBe("succeeded");
    expect(errors).toHaveLength(1);
  });
});
