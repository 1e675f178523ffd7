// The engine against a small model of its own: random trees of steps, lists, child workflows, groups and waits. The
// model says what must have run, how each step ended and how the run ended. What was seen also tells the order, and
// how much ran at once.

import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { ItemView } from "../../src/api/item-view.ts";
import type { RunWithSteps } from "../../src/api/run-view.ts";
import type { Sluice } from "../../src/index.ts";
import { connect, defineApp } from "../../src/index.ts";
import { openMemory } from "../../src/store/memory/index.ts";
import { forestOf, GO, START } from "./random-app.ts";
import type { Tree } from "./tree-arbitrary.ts";
import { anyTree } from "./tree-arbitrary.ts";
import { judge } from "./tree-judge.ts";
import type { Expected, Path } from "./tree-model.ts";
import { expectedOf } from "./tree-model.ts";
import type { Seen } from "./tree-stops.ts";
import { startedTooLate } from "./tree-stops.ts";

const AT_ONCE = 50;
const TREES = Number(process.env.SLUICE_TREES ?? 2_000);
const met = { reached: 0, failed: 0, uncertain: 0, leaves: 0, stopped: 0 };

test(`${TREES} random trees do what their model says, in its order and within their limits`, {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyTree, { minLength: AT_ONCE, maxLength: AT_ONCE, size: "max" }),
      async (trees) => {
        expect(await faultsOf(trees)).toEqual([]);
      },
    ),
    { numRuns: Math.ceil(TREES / AT_ONCE), endOnFailure: true },
  );
});

/** A property that is never tried on the hard cases proves nothing. */
afterAll(() => {
  expect(met.reached).toBeGreaterThan(TREES / 4);
  expect(met.failed).toBeGreaterThan(TREES / 20);
  expect(met.uncertain).toBeGreaterThan(TREES / 200);
  expect(met.leaves).toBeGreaterThan(TREES);
  expect(met.stopped).toBeGreaterThan(TREES / 200);
});

/** No two transactions have the same time. */
function ticking(): () => number {
  let last = 0;
  return () => {
    last = Math.max(Date.now(), last + 1 / 1_024);
    return last;
  };
}

async function faultsOf(trees: readonly Tree[]): Promise<string[]> {
  const { app, roots, seen } = forestOf(trees);
  const sluice = await connect({ store: await openMemory({ now: ticking() }), app: defineApp(app) });
  try {
    await sluice.worker({ slots: 16 });
    const ids: string[] = [];
    for (const [index, root] of roots.entries())
      ids.push((await sluice.submit(root, { at: index, ...START })).id);
    // A scope has at most four steps, and a signal answers one step of each run.
    for (let sent = 0; sent < 4; sent += 1) await sluice.signal(GO, sent);
    const faults: string[] = [];
    for (const [index, id] of ids.entries()) {
      const tree = trees[index] as Tree;
      const expected = expectedOf(tree);
      const { state } = await sluice.runs.ended(id);
      const verdict = judge(tree, expected, seen[index] ?? []);
      const ended = state === expected.state ? [] : [`it is ${state} instead of ${expected.state}`];
      const after = await seenBelow(sluice, id, tree);
      const late = startedTooLate(tree, "", after);
      met.stopped += [...after.values()].flatMap(stoppedIn).length;
      const wrong = [...ended, ...verdict.faults, ...late, ...wrongStates(after, expected)];
      for (const fault of wrong) faults.push(`${fault}, in ${JSON.stringify(tree)}`);
      count(expected, verdict.reached);
    }
    return faults;
  } finally {
    await sluice.close({ graceMs: 0 });
  }
}

function count({ state, mustRun, mayRun }: Expected, reached: number): void {
  met.reached += reached;
  met.failed += Number(state === "failed");
  met.uncertain += Number(mayRun.size > 0);
  met.leaves += mustRun.size;
}

function wrongStates(seen: ReadonlyMap<Path, Seen>, { nodes }: Expected): string[] {
  const states = new Map<string, string>(
    [...seen].flatMap(([path, { steps }]) =>
      steps.map(({ name, state }) => [`${path}/${name}`, state] as const),
    ),
  );
  return [...nodes].flatMap(([path, state]) => {
    const was = states.get(path);
    return was === state ? [] : [`${path} is ${was} instead of ${state}`];
  });
}

/** Units that were in line and never started, because something had failed. */
const stoppedIn = ({ steps, items }: Seen): string[] => [
  ...steps.flatMap(({ because, unit }) => (because?.kind === "failFast" && unit !== null ? [unit] : [])),
  ...[...items.values()].flat().flatMap(({ state, unit }) => (state === "cancelled" ? [unit] : [])),
];

async function seenBelow(sluice: Sluice, root: string, tree: Tree): Promise<Map<Path, Seen>> {
  const below = await sluice.runs.tree(root, { limit: 1_000 });
  const paths = new Map<string, string>([[root, ""]]);
  for (const { id, child } of below) {
    if (!child) continue;
    const { parent, step, item } = child;
    paths.set(id, `${paths.get(parent)}/${step}${item === undefined ? "" : `/${item}`}`);
  }
  const seen = new Map<string, Seen>();
  for (const [id, path] of paths) {
    const { steps, ...run } = (await sluice.runs.get(id)) as RunWithSteps;
    const items = new Map<string, readonly ItemView[]>();
    for (const { name, items: counts } of steps)
      if (counts && canStop(tree)) items.set(name, await sluice.runs.items(id, name));
    seen.set(path, { run, steps, items });
  }
  return seen;
}

/** Only then its items are looked at, because that takes time. */
const canStop = (tree: Tree): boolean =>
  /"failFast":true|"onFailure":"(stop|cancel)"/.test(JSON.stringify(tree));
