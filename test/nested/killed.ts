// Workers are killed again and again while they work on a tree of runs. Every step succeeds once, each limit is reached
// and never exceeded, and each item gets one child. There is one test file per database, so that they run in parallel.

import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Sluice } from "../../src/index.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import type { Project, WorkerCommand } from "../process/support/worker-command.ts";
import { startWorker } from "../process/support/worker-command.ts";
import { randomOf } from "../runs/support/random.ts";
import { isTidy, worldOf } from "../runs/support/world.ts";
import { bundledPackage } from "../support/bundled-package.ts";
import { isAlive } from "../support/processes.ts";
import app, { MOST } from "./support/tree-app.ts";

const APP = new URL("support/tree-app.ts", import.meta.url);
const SEED = 14;
/** The longest life of a worker after it has begun a step. */
const LIFE_MS = 400;
/** A third loss quarantines a step, which is another promise. Nothing is killed while a step has lost two workers. */
const MOST_LOSSES = 2;

export function killWorkers(key: "postgres" | "sqlite", kills: number): void {
  const size = kills >= 25 ? 100 : 12;
  describeOn([key], (place) => {
    test(
      `a tree of ${size} children with ${size} steps each, whose workers are killed ${kills} times, is whole`,
      // A machine that stalls for longer than a lease loses steps by itself.
      { timeout: 900_000, retry: 1 },
      () => survives(place, size, kills),
    );
  });
}

async function survives(place: Place, size: number, kills: number): Promise<void> {
  const { sluice, url } = await worldOf(place, app);
  const aside = await place.beside(url);
  onTestFinished(() => aside.close());
  vi.stubEnv("SLUICE_CLAIM_POLL_INTERVAL", "100ms");
  onTestFinished(() => void vi.unstubAllEnvs());
  const log = new Log();
  const project = newProject();
  const random = randomOf(SEED);
  const work = (): Promise<WorkerCommand> =>
    startWorker(project, "--store", url, "--processes=1", "--concurrency=6");
  const isAtRisk = async (): Promise<boolean> => {
    const [row] = await aside.query("SELECT MAX(losses) AS most FROM sluice_running");
    return Number(row?.most ?? 0) >= MOST_LOSSES;
  };
  const children = Array.from({ length: size }, (_, child) => child);
  const submit = async (): Promise<string> =>
    (await sluice.submit(`tree${size}`, { log: log.file, children })).id;

  const id = await submit();
  const workers = [await work(), await work()];
  let killed = 0;
  for (; killed < kills && (await sluice.runs.get(id))?.finishedAt === null; killed += 1) {
    const since = log.lines.length;
    await until(() => log.lines.length > since + 2, "some steps begin", 60_000);
    await sleep(random() * LIFE_MS);
    const victim = workers.shift() as WorkerCommand;
    await freeze(victim, isAtRisk);
    const { children: processes } = victim;
    victim.signal("SIGKILL");
    await victim.ended;
    await until(() => !processes.some(isAlive), "its children are gone");
    log.killed([victim.pid, ...processes]);
    workers.push(await work());
  }
  await sluice.runs.ended(id);
  expect(await failuresIn(sluice, id)).toEqual([]);
  expect(await sluice.runs.get(id)).toMatchObject({
    state: "succeeded",
    result: children.map(() => children),
  });
  await isWhole(sluice, id, size);
  const again = log.isSound(size);
  for (const worker of workers) {
    worker.signal("SIGTERM");
    await worker.ended;
  }
  await isTidy(sluice);
  // Kills that hit nothing would prove nothing.
  console.log(`${place.name}: ${again} of ${size * size} steps ran again after ${killed} kills`);
  expect(killed).toBe(kills);
  expect(again).toBeGreaterThan(kills / 4);
}

/** Stops a worker at a moment when no step is at risk. */
async function freeze(worker: WorkerCommand, isAtRisk: () => Promise<boolean>): Promise<void> {
  await until(
    async () => {
      worker.signal("SIGSTOP");
      if (!(await isAtRisk())) return true;
      worker.signal("SIGCONT");
      return false;
    },
    "no step is at risk",
    60_000,
  );
}

/** The errors of all steps of the tree. */
async function failuresIn(sluice: Sluice, id: string): Promise<unknown[]> {
  const failed = (await sluice.runs.tree(id, { limit: 10_000 })).filter(({ state }) => state !== "succeeded");
  const runs = await Promise.all(failed.map(({ id: run }) => sluice.runs.get(run)));
  return runs.flatMap((run) => [
    [run?.workflow, run?.state, run?.error],
    ...(run?.steps ?? []).flatMap(({ name, state, error, attempt }) =>
      error ? [[name, state, attempt, error]] : [],
    ),
  ]);
}

/** Each item has one child, each child one group, and each step of it succeeded. */
async function isWhole(sluice: Sluice, id: string, size: number): Promise<void> {
  const tree = await sluice.runs.tree(id, { limit: 10_000 });
  expect(tree).toHaveLength(2 * size);
  expect(new Set(tree.map(({ state }) => state))).toEqual(new Set(["succeeded"]));
  const items = tree.flatMap(({ child }) => child?.item ?? []);
  expect(items.toSorted((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, item) => item));
  const units = new Set<string>();
  for (const { id: run, workflow } of tree.filter(({ workflow }) => workflow === "group"))
    for (const { unit, state } of (await sluice.runs.get(run))?.steps ?? []) {
      expect([workflow, state]).toEqual(["group", "succeeded"]);
      units.add(unit as string);
    }
  expect(units.size).toBe(size * size);
}

/** The witness: what the steps did, as they wrote it themselves. */
class Log {
  readonly file: string;
  readonly #dead = new Set<string>();

  constructor() {
    this.file = join(newFolder(), "log");
    writeFileSync(this.file, "");
  }

  get lines(): string[] {
    return readFileSync(this.file, "utf8").split("\n").slice(0, -1);
  }

  killed(processes: readonly number[]): void {
    for (const pid of processes) {
      this.#dead.add(String(pid));
      appendFileSync(this.file, `dead -/- ${pid}\n`);
    }
  }

  #parsed(): string[][] {
    return this.lines.map((line) => line.split(" "));
  }

  /** Returns how many times a step ran again. */
  isSound(size: number): number {
    const begun = new Map<string, string[]>();
    const inside = new Map<string, string>();
    const most = { leaves: 0, inGroup: 0, items: 0 };
    for (const [what = "", step = "", pid = ""] of this.#parsed()) {
      if (what === "begin") begun.set(step, [...(begun.get(step) ?? []), pid]);
      if (what === "begin") inside.set(step, pid);
      if (what === "end") inside.delete(step);
      if (what === "dead") for (const [each, of] of inside) if (of === pid) inside.delete(each);
      most.leaves = Math.max(most.leaves, inside.size);
      const perChild = new Map<string, number>();
      for (const each of inside.keys()) perChild.set(childOf(each), (perChild.get(childOf(each)) ?? 0) + 1);
      most.inGroup = Math.max(most.inGroup, ...perChild.values());
      most.items = Math.max(most.items, perChild.size);
    }
    expect(most).toEqual(MOST);
    expect(begun.size).toBe(size * size);
    // Only what a killed process had in hand ran again.
    for (const [step, pids] of begun)
      expect(
        pids.slice(0, -1).filter((pid) => !this.#dead.has(pid)),
        step,
      ).toEqual([]);
    return [...begun.values()].reduce((sum, pids) => sum + pids.length - 1, 0);
  }
}

const childOf = (step: string): string => step.slice(0, step.indexOf("/"));

function newProject(): Project {
  const folder = newFolder();
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  copyFileSync(APP, join(folder, "app.ts"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(bundledPackage(), join(folder, "node_modules/sluice"), "dir");
  return { folder, app: join(folder, "app.ts") };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-nested-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
