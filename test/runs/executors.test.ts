// How many steps of a run work at once, counted by a witness outside the store.

import { expect, onTestFinished, test, vi } from "vitest";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { startWorker } from "../process/support/worker-command.ts";
import { builtCli, top } from "../support/built-cli.ts";
import { openWitness } from "../support/open-witness.ts";
import app, { asyncLevel, mixedLevel, pooledLevel, serialLevel, wideLevel } from "./support/crowd-app.ts";
import { isTidy, worldOf } from "./support/world.ts";

const FILE = new URL("support/crowd-app.ts", import.meta.url);
type Level = typeof pooledLevel;

async function crowdOn(place: Place) {
  const witness = await openWitness();
  const { sluice, url } = await worldOf(place, app);
  const submit = async (workflow: Level, crowd: string): Promise<string> =>
    (await sluice.submit(workflow, { port: witness.port, crowd })).id;
  /** Checks that `count` steps are at work, and that all others of the run wait for one of these gates. */
  const settled = async (run: string, crowd: string, count: number, gates: RegExp): Promise<void> => {
    await witness.until((seen) => seen.sum(`queue:${crowd}`) >= count, `${count} of ${crowd} are at work`);
    const { steps = [] } = (await sluice.runs.get(run)) ?? {};
    const waiting = steps.filter(({ state }) => state === "waiting");
    expect(waiting).toHaveLength(steps.length - count);
    for (const { unit } of waiting) {
      const { reasons } = await sluice.explain(unit as string);
      expect(reasons.some((reason) => "gate" in reason && gates.test(String(reason.gate)))).toBe(true);
    }
  };
  const ends = async (run: string): Promise<number[]> => {
    witness.letGo();
    const { state, steps } = await sluice.runs.ended(run);
    expect(state).toBe("succeeded");
    await isTidy(sluice);
    return steps.map(({ result }) => result as number);
  };
  return { witness, sluice, url, submit, settled, ends };
}

/** Children are started from TypeScript here and load the app with the built package. */
async function withChildren(): Promise<void> {
  await builtCli();
  vi.stubEnv("NODE_OPTIONS", "--import tsx");
  onTestFinished(() => void vi.unstubAllEnvs());
}

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("with 8 workers and a pool of 2, two steps have the pool and six others are at work beside them", async () => {
    const { witness, url, submit, settled, ends } = await crowdOn(place);
    const project = { folder: top, app: FILE.pathname };
    await startWorker(project, "--store", url, "--processes=2", "--concurrency=8");
    const run = await submit(pooledLevel, "a");
    await settled(run, "a", 8, /^pool:gpu$|\/workers$/);
    expect([witness.sum("pool:gpu"), witness.sum("cluster")]).toEqual([2, 8]);
    const pids = await ends(run);
    expect(pids).not.toContain(process.pid);
    expect([witness.peak("pool:gpu"), witness.peak("cluster")]).toEqual([2, 8]);
  });

  test("two runs with 8 workers each have 16 at work", async () => {
    const { witness, url, submit, settled, ends } = await crowdOn(place);
    const project = { folder: top, app: FILE.pathname };
    await startWorker(project, "--store", url, "--processes=2", "--concurrency=12");
    const runs = [await submit(wideLevel, "a"), await submit(wideLevel, "b")] as const;
    await settled(runs[0], "a", 8, /\/workers$/);
    await settled(runs[1], "b", 8, /\/workers$/);
    expect(witness.sum("cluster")).toBe(16);
    for (const run of runs) await ends(run);
    expect(["cluster", "queue:a", "queue:b"].map((key) => witness.peak(key))).toEqual([16, 8, 8]);
  });

  test("the cap of async steps is reached and not exceeded", async () => {
    const { witness, sluice, submit, settled, ends } = await crowdOn(place);
    await sluice.worker({ slots: 10, file: FILE });
    const run = await submit(asyncLevel, "a");
    await settled(run, "a", 3, /\/async$/);
    expect(new Set(await ends(run))).toEqual(new Set([process.pid]));
    expect(witness.peak("queue:a")).toBe(3);
    expect(witness.starts).toHaveLength(7);
  });

  test("in process, steps are at work here one at a time, those too that keep a processor busy", async () => {
    const { witness, sluice, submit, settled, ends } = await crowdOn(place);
    await sluice.worker({ slots: 10, file: FILE });
    const run = await submit(serialLevel, "a");
    await settled(run, "a", 1, /\/in-process$/);
    expect(new Set(await ends(run))).toEqual(new Set([process.pid]));
    expect(witness.peak("queue:a")).toBe(1);
    expect(witness.starts).toHaveLength(4);
  });

  test("two runs in process are at work beside each other", async () => {
    const { witness, sluice, submit, settled, ends } = await crowdOn(place);
    await sluice.worker({ slots: 10, file: FILE });
    const runs = [await submit(serialLevel, "a"), await submit(serialLevel, "b")] as const;
    await settled(runs[0], "a", 1, /\/in-process$/);
    await settled(runs[1], "b", 1, /\/in-process$/);
    expect(witness.sum("cluster")).toBe(2);
    for (const run of runs) await ends(run);
    expect(["cluster", "queue:a", "queue:b"].map((key) => witness.peak(key))).toEqual([2, 1, 1]);
  });
});

describeOn(["sqlite"], (place) => {
  test("an embedded worker has as many processes as a run has workers, and async steps stay with it", async () => {
    await withChildren();
    const { witness, sluice, submit, settled, ends } = await crowdOn(place);
    await sluice.worker({ slots: 10, file: FILE });
    const run = await submit(mixedLevel, "a");
    await settled(run, "a", 6, /\/workers$/);
    const [here, elsewhere] = [
      witness.inside.filter(({ worker }) => worker === String(process.pid)),
      witness.inside.filter(({ worker }) => worker !== String(process.pid)),
    ];
    expect(here).toHaveLength(2);
    expect(new Set(elsewhere.map(({ worker }) => worker)).size).toBe(4);
    await ends(run);
    for (const { worker } of elsewhere) expect(witness.peak(`worker:${worker}`)).toBe(1);
    await until(() => witness.inside.length === 0, "all have left");
  });
});
