/** A step that is a run: what it asks for, and what it has from the runs above it. */

import { SluiceError } from "../../core/error.ts";
import { askOf } from "../../core/gate/asks.ts";
import { childrenKey } from "../../core/gate/key.ts";
import { optionsOfRun, storedOptions } from "../../core/unit-options.ts";
import type { RunStep } from "../../core/workflow/graph.ts";
import type { LaneSpec } from "../../store/lane.ts";
import { laneOf } from "../../store/lane.ts";
import type { NewChild } from "../../store/runs.ts";
import { NESTED, RUNS } from "../../store/runs.ts";
import type { Home } from "./home.ts";
import { pathOf } from "./home.ts";
import { stepOf } from "./step-of.ts";

/** How many workflows may be nested in each other. */
const MOST_DEPTH = 64;

/** `window` is the gate of the step's items. A run of its own asks for nothing of this run. */
export function laneOfChild({ run }: Home, step: RunStep, window?: string): LaneSpec {
  const asks = step.asks.map(askOf);
  if (step.detached) return laneOf(RUNS, step.workflow, asks);
  const own = [childrenKey(run.id), ...(window ? [window] : [])];
  return laneOf(NESTED, step.workflow, [...own.map((gate) => ({ gate, slots: 1 })), ...asks]);
}

export function childOf(home: Home, step: RunStep): NewChild {
  const { run, root } = home;
  const { detached } = step;
  return {
    graph: step.graph,
    root: detached ? null : root,
    depth: detached ? 0 : placesAbove(home) + 1,
    tells: detached?.wait ?? true,
    rerunOf: detached ? null : run.rerunOf,
    tags: JSON.stringify(sorted(detached?.tags ?? {})),
    source: `run ${run.id}`,
  };
}

const placesAbove = ({ path }: Home): number => (path === "" ? 0 : path.split("/").length);

export function optionsOfChild(home: Home, step: RunStep, item: number | undefined): string {
  const { startTimeoutMs, onStartTimeout } = storedOptions(home.run.options);
  const { root, owner, leaves } = home;
  return optionsOfRun({
    startTimeoutMs,
    ...(onStartTimeout ? { onStartTimeout } : {}),
    timeoutMs: step.timeoutMs,
    ...(step.onFailure ? { onFailure: step.onFailure } : {}),
    ...(step.detached?.wait === false ? {} : { step: stepOf(home, step) }),
    ...(step.detached
      ? {}
      : {
          scope: {
            root,
            owner,
            depth: home.depth + (step.group ? 0 : 1),
            leaves,
            path: pathOf(home, step.name, item),
          },
        }),
  });
}

/** A workflow that calls itself without end would fill the store. */
export function refuseTooDeep(home: Home, step: RunStep): void {
  if (step.group || step.detached || home.depth < MOST_DEPTH) return;
  throw new SluiceError(
    "NESTED_TOO_DEEP",
    `Step "${step.name}" would nest more than ${MOST_DEPTH} workflows in each other: ${shortened(pathOf(home, step.name, undefined))}.`,
    { details: { depth: MOST_DEPTH } },
  );
}

/** Both ends of a long path. */
const shortened = (path: string): string =>
  path.length <= 200 ? path : `${path.slice(0, 120)} … ${path.slice(-70)}`;

const sorted = (tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1)));
