// Workers are killed in the middle of a run, again and again, and the run continues where it was.

import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import type { Project, WorkerCommand } from "../process/support/worker-command.ts";
import { startWorker } from "../process/support/worker-command.ts";
import { bundledPackage } from "../support/bundled-package.ts";
import { isAlive } from "../support/processes.ts";
import type { Width } from "./support/chain-app.ts";
import app from "./support/chain-app.ts";
import { LoggedRun } from "./support/logged-run.ts";
import { randomOf } from "./support/random.ts";
import { isTidy, worldOf } from "./support/world.ts";

const APP = new URL("support/chain-app.ts", import.meta.url);
const SEED = 26;
/** The longest life of a worker after it has begun a step. */
const LIFE_MS = 120;
/** One in this many kills hits a worker that is still starting. */
const EARLY = 10;
const START_MS = 500;

// The tests retry once: a machine that stalls for longer than a lease loses steps by itself, and a third loss
// is quarantine.

/**
 * With fifteen kills on each of the other databases, this makes fifty. SLUICE_KILLS=50 does all of them on
 * SQLite.
 */
const ON_A_FILE = Number(process.env.SLUICE_KILLS ?? 20);

describeOn(["sqlite"], (place) => {
  test(
    `a run whose workers are killed ${ON_A_FILE} times finishes, and no finished step runs again`,
    {
      timeout: 420_000,
      retry: 1,
    },
    () => survives(place, ON_A_FILE > 25 ? 60 : 25, ON_A_FILE, ["--processes=1", "--concurrency=4"]),
  );
});

describeOn(["postgres", "mariadb"], (place) => {
  test(
    "a run whose workers are killed 15 times finishes, and no finished step runs again",
    {
      timeout: 240_000,
      retry: 1,
    },
    () => survives(place, 25, 15, ["--processes=2", "--concurrency=2"]),
  );
});

async function survives(place: Place, width: Width, times: number, seats: string[]): Promise<void> {
  const { sluice, url } = await worldOf(place, app);
  const folder = newFolder();
  // A dead worker's claims are free when its lease ends. A short poll notices that without further delay.
  vi.stubEnv("SLUICE_CLAIM_POLL_INTERVAL", "100ms");
  onTestFinished(() => void vi.unstubAllEnvs());
  const random = randomOf(SEED);
  const project = newProject();
  const work = (): Promise<WorkerCommand> => startWorker(project, "--store", url, ...seats);

  const runs = [await LoggedRun.submit(sluice, folder, width)];
  let worker = await work();
  for (let killed = 0; killed < times; killed += 1) {
    // One run is always in progress. On a fast machine it is the second or third.
    if (await runs.at(-1)?.isOver()) runs.push(await LoggedRun.submit(sluice, folder, width));
    const run = runs.at(-1) as LoggedRun;
    const since = run.lines.length;
    const isEarly = random() < 1 / EARLY;
    if (!isEarly) await until(() => run.lines.length > since, "a step begins", 60_000);
    await sleep(random() * (isEarly ? START_MS : LIFE_MS));
    await kill(worker, run);
    await run.killed(since);
    worker = await work();
  }
  for (const run of runs) await run.isWhole();
  await isTidy(sluice);

  // Kills that hit nothing, or always the same moment, would prove nothing.
  const kills = runs.flatMap((run) => run.kills);
  expect(kills).toHaveLength(times);
  expect(kills.filter(({ hit }) => hit.length > 0).length).toBeGreaterThan(times / 3);
  expect(new Set(kills.map(({ recorded }) => recorded.length)).size).toBeGreaterThan(2);
  const hits = kills.map(({ hit, recorded }) => `${recorded.length}+${hit.length}`);
  console.log(`${place.name}: ${runs.length} runs, steps recorded + hit at each kill: ${hits.join(" ")}`);
}

/**
 * Kills a worker and resolves when none of it runs. It is stopped first, so that no step is put at risk after
 * the look.
 */
async function kill(worker: WorkerCommand, run: LoggedRun): Promise<void> {
  await until(
    async () => {
      worker.signal("SIGSTOP");
      if (!(await run.isAtRisk())) return true;
      worker.signal("SIGCONT");
      return false;
    },
    "no step is at risk",
    60_000,
  );
  const { children } = worker;
  worker.signal("SIGKILL");
  await worker.ended;
  await until(() => !children.some(isAlive), "its children are gone");
}

function newProject(): Project {
  const folder = newFolder();
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  copyFileSync(APP, join(folder, "app.ts"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(bundledPackage(), join(folder, "node_modules/sluice"), "dir");
  return { folder, app: join(folder, "app.ts") };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-killed-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
