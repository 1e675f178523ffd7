/** Child runs: their rows, what they take over, and who hears of their ends. */
import { DEFAULT_NAMESPACE } from "../../core/gate/key.ts";
import { nestedGraph } from "../graph-id.ts";
import type { NewUnit } from "../runs.ts";
import { RUNS } from "../runs.ts";
import { asEarlier } from "./loose-steps.ts";
import { leaveNews, ofRun } from "./news.ts";
import type { StoppingRecord, Tables, TaskRecord } from "./tables.ts";
import { pairKey } from "./tables.ts";

export function insertChild(tables: Tables, parent: string, { id, name, child }: NewUnit): void {
  const above = tables.run.get(parent);
  if (!child || !above) return;
  const { tags, source, namespace = DEFAULT_NAMESPACE, root, depth, tells } = child;
  tables.run.insert({
    id,
    workflow: name,
    graph: nestedGraph(above.graph, child.graph),
    tags,
    source,
    namespace,
    rerunOf: child.rerunOf === null ? null : earlierOf(tables, id, child.rerunOf),
    paused: false,
    beganAt: null,
    root,
    parent: tells ? parent : null,
    depth,
  });
}

/** The child that the same step or item had in an earlier run. It must have had the same input, and not succeeded. */
function earlierOf(tables: Tables, id: string, run: string): string | null {
  const own = tables.task.get(id);
  const isSame = (task: TaskRecord): boolean =>
    task.run === run && task.step === own?.step && task.item === own.item && task.input === own.input;
  const found = tables.task.all().filter((task) => isSame(task) && isUnsuccessful(tables, task.id));
  return found.at(-1)?.id ?? null;
}

function isUnsuccessful(tables: Tables, id: string): boolean {
  const outcome = tables.outcome.get(id);
  return outcome !== undefined && outcome.state !== "succeeded";
}

export function takeOver(
  tables: Tables,
  run: string,
  { run: from, steps }: { readonly run: string; readonly steps: readonly string[] },
): void {
  for (const name of steps) {
    const step = tables.step.get(pairKey(from, name));
    if (step) tables.step.put({ ...asEarlier(tables, step), run, lane: null, total: null, created: null });
  }
}

/** The parent of a run that has ended, or has stopped altogether, looks again. */
export function tellParent(tables: Tables, id: string): void {
  const parent = tables.run.get(id)?.parent;
  if (parent == null) return;
  const succeeded = tables.outcome.get(id)?.state === "succeeded";
  leaveNews(tables, [{ run: parent, failed: succeeded ? null : (tables.task.get(id)?.step ?? null) }]);
}

/** A unit of `run` has ended with it. If it is a run in progress, its own units are ended by a look of its own. */
export function cutOff(tables: Tables, id: string): void {
  const claim = claimOf(tables, id);
  if (!claim) return;
  tables.stopping.put({ ...claim, because: "parent" });
  leaveNews(tables, [ofRun(id)]);
}

const claimOf = (tables: Tables, id: string): StoppingRecord | undefined =>
  tables.stopping.all().find((row) => row.id === id && row.session === RUNS);

export const isCutOff = (tables: Tables, id: string): boolean => claimOf(tables, id)?.because === "parent";

/** Its units have been ended. */
export function cutThrough(tables: Tables, id: string): void {
  const claim = claimOf(tables, id);
  if (claim) tables.stopping.put({ ...claim, because: "cancelled" });
}
