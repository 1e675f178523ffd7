/**
 * Finds a step of a run, or of a run below it, by its path: `ok`, `group/ok`, `ship[3]/ok`. The names of steps may contain
 * slashes, too.
 */
import { didYouMean } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import { checkText, LONGEST_LIST, shortly } from "../core/text.ts";
import type { Graph, GraphStep } from "../core/workflow/graph.ts";
import type { RunDetail, Store } from "../store/store.ts";
import { readable } from "./readable.ts";

interface FoundStep {
  /** The run that has the step. */
  readonly detail: RunDetail;
  readonly step: string;
  /** Its task, or the run that it is. For an item of a list, that of the item. */
  readonly unit: string | null;
}

export async function findStep(store: Store, detail: RunDetail, path: string): Promise<FoundStep> {
  checkText("The step", path, LONGEST_LIST);
  const found = await follow(store, detail, path);
  if (found) return found;
  const names = namesIn(detail);
  const near = didYouMean(path, names);
  const below = near === "" ? sayBelow(await pathsBelow(store, detail, path)) : "";
  throw new SluiceError("UNKNOWN_STEP", `run ${detail.run.id} has no step ${shortly(path)}.${near}${below}`);
}

const stepsIn = ({ graph }: RunDetail): readonly GraphStep[] =>
  (readable(graph) as Partial<Graph>).steps ?? [];

export const namesIn = (detail: RunDetail): string[] => stepsIn(detail).map(({ name }) => name);

async function follow(store: Store, detail: RunDetail, path: string): Promise<FoundStep | undefined> {
  // The longest name comes first, because a name may contain the path of another step.
  const names = namesIn(detail).filter((name) => path.startsWith(name));
  for (const name of names.sort((a, b) => b.length - a.length)) {
    const found = /^(?:\[(?<item>\d{1,9})\])?(?:\/(?<below>.+))?$/.exec(path.slice(name.length));
    if (!found) continue;
    const { item, below } = found.groups ?? {};
    const unit = await unitOf(store, detail, name, item === undefined ? undefined : Number(item));
    if (below === undefined) return { detail, step: name, unit };
    const child = unit === null ? undefined : await store.run(unit);
    const step = child && (await follow(store, child, below));
    if (step) return step;
  }
  return undefined;
}

async function unitOf(
  store: Store,
  { run, steps }: RunDetail,
  name: string,
  item?: number,
): Promise<string | null> {
  if (item === undefined) return steps.find((step) => step.name === name)?.unit ?? null;
  const [first] = await store.items(run.id, name, { after: item - 1, limit: 1 });
  return first?.item === item ? first.unit : null;
}

/** The most runs that are searched, and the most of them that one list has. */
const MOST_SEARCHED = 50;
const MOST_ITEMS = 10;

/** The paths of the steps with this name in the runs below a run. */
async function pathsBelow(store: Store, top: RunDetail, name: string): Promise<string[]> {
  const found: string[] = [];
  const open = [{ detail: top, path: "" }];
  for (let n = 0, next = open.shift(); next && n < MOST_SEARCHED; n += 1, next = open.shift()) {
    const { detail, path } = next;
    if (path !== "" && namesIn(detail).includes(name)) found.push(`${path}${name}`);
    for (const [part, unit] of await childrenOf(store, detail)) {
      const child = await store.run(unit);
      if (child) open.push({ detail: child, path: `${path}${part}/` });
    }
  }
  return found;
}

async function childrenOf(
  store: Store,
  detail: RunDetail,
): Promise<(readonly [part: string, unit: string])[]> {
  const runs = stepsIn(detail).filter(({ kind }) => kind === "run");
  const children = runs.map(async ({ name, each }) => {
    if (each) {
      const items = await store.items(detail.run.id, name, { after: -1, limit: MOST_ITEMS });
      return items.map(({ item, unit }) => [`${name}[${item}]`, unit] as const);
    }
    const unit = await unitOf(store, detail, name);
    return unit === null ? [] : [[name, unit] as const];
  });
  return (await Promise.all(children)).flat();
}

const sayBelow = (paths: readonly string[]): string =>
  paths.length === 0
    ? ""
    : ` Below it there is: ${paths.slice(0, 3).join(", ")}${paths.length > 3 ? ", …" : ""}.`;
