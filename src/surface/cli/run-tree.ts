/**
 * Draws a run as a tree of its steps. If several steps need the same step, they stand below it. If only one
 * step needs it, that step stands beside it. If branches meet again, the tree returns to the level where they
 * split. So a chain of any length stays at the margin.
 */
import type { RunWithSteps, StepView, StepViewState } from "../../api/run-view.ts";
import { sayDuration } from "../../core/time.ts";
import { NOTHING_BELOW, nameOfItem } from "./below.ts";
import { sayItemsEnd, sayStanding, standingOf } from "./item-standing.ts";
import { bar, sayProgress } from "./progress.ts";
import {
  isOver,
  ranFor,
  runStateCell,
  sayError,
  saySkipped,
  stepRanFor,
  stepWaitedFor,
} from "./run-ending.ts";
import type { Seen } from "./run-seen.ts";
import type { Style } from "./table.ts";
import { colours, cutTo, padTo, safe, widthOf } from "./text.ts";

interface Room {
  readonly columns: number;
  readonly rows: number;
}

const LOOKS: Readonly<Record<StepViewState, readonly [sign: string, style: Style]>> = {
  pending: ["·", colours.dim],
  later: ["↻", colours.yellow],
  waiting: ["◌", colours.yellow],
  answered: ["◌", colours.green],
  running: ["▶", colours.cyan],
  succeeded: ["✔", colours.green],
  failed: ["✖", colours.red],
  skipped: ["–", colours.dim],
  cancelled: ["■", colours.dim],
};

interface Node {
  readonly step: StepView;
  /** The branch lines that lead to it. */
  readonly branch: string;
  /** The run that it is a step of, as it was seen. */
  readonly seen: Seen;
}

export function runTree(seen: Seen, room: Room): string[] {
  const nodes = inTree(seen, "");
  const kept = fitting(nodes, room.rows - 3);
  const width = Math.max(0, ...kept.map(({ step, branch }) => widthOf(branch) + widthOf(safe(step.name))));
  const lines = kept.map((node) => lineOf(node, width, room.columns));
  const hidden = nodes.length - kept.length;
  return [head(seen, room), ...lines, ...(hidden > 0 ? [colours.dim(`  … and ${hidden} more`)] : [])];
}

function head({ run, now, why }: Seen, { columns }: Room): string {
  const done = run.steps.filter(({ state }) => state === "succeeded").length;
  const all = run.steps.filter(({ state }) => state !== "skipped").length;
  const { text, style = (plain: string) => plain } = runStateCell(run);
  const time = run.state === "queued" ? sayDuration(now - run.queuedAt) : ranFor(run, now);
  const state = `${text}${time === undefined ? "" : `${isOver(run.state) ? " after" : " for"} ${time}`}`;
  const start = `${safe(run.workflow)} ${run.id}  `;
  const more = why?.text
    ? `: ${safe(why.text)}`
    : `  ${bar(all === 0 ? 1 : done / all)} ${done}/${all} steps`;
  return `${colours.bold(start)}${style(state)}${cutTo(more, Math.max(10, columns - widthOf(start + state)))}`;
}

function lineOf({ step, branch, seen }: Node, width: number, columns: number): string {
  const [sign, style] = LOOKS[step.state];
  const name = padTo(safe(step.name), width - widthOf(branch));
  const room = Math.max(10, columns - width - 4);
  const note = cutTo(safe(noteOf(step, seen, room)), room);
  const isQuiet = step.state === "succeeded" || step.state === "pending" || step.state === "skipped";
  return `${colours.dim(branch)}${style(sign)} ${name}  ${isQuiet ? colours.dim(note) : note}`.trimEnd();
}

function noteOf(step: StepView, seen: Seen, room: number): string {
  return itemsNote(step, seen, room) ?? waitNote(step, seen) ?? plainNote(step, seen);
}

/** For a step over a list that has begun. */
function itemsNote(step: StepView, { run, now }: Seen, room: number): string | undefined {
  const standing = standingOf(step, run, now);
  if (!standing || step.state === "waiting") return undefined;
  const time = stepRanFor(step, now);
  const start = time === undefined ? "" : `${time}  `;
  if (step.state !== "running") return `${start}${sayItemsEnd(step, standing)}`;
  return `${start}${sayStanding(standing, room - widthOf(start))}`;
}

/** For a step that waits for a time, an event or a person. */
function waitNote(step: StepView, { now, whys }: Seen): string | undefined {
  const time = stepWaitedFor(step, now);
  if (time === undefined) return undefined;
  if (step.state === "waiting") return whys.get(step.name)?.text ?? "";
  return step.state === "failed" ? `after ${time}: ${sayError(step.error)}` : `waited ${time}`;
}

function plainNote(step: StepView, { run, now, whys }: Seen): string {
  const time = stepRanFor(step, now);
  const attempt = step.state === "waiting" ? step.attempt + 1 : step.attempt;
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  switch (step.state) {
    case "pending":
      return isOver(run.state) ? "" : after(step, run);
    case "later":
      return `will be retried, attempt ${step.attempt + 1}`;
    case "waiting":
      return `waiting${again ? again : ` for ${sayDuration(now - (step.inLine.at(-1)?.from ?? now))}`}${whys.get(step.name)?.text ? `: ${whys.get(step.name)?.text}` : ""}`;
    case "answered":
      return "answered";
    case "running":
      return `${time}${again}${step.progress === undefined ? "" : `  ${sayProgress(step.progress)}`}`;
    case "succeeded":
      return step.takenOver ? `reused from ${step.takenOver}` : `${time ?? ""}${again}`;
    case "failed":
      return `${time === undefined ? "" : `after ${time}${again}: `}${sayError(step.error)}`;
    case "skipped":
      return saySkipped(step);
    case "cancelled":
      return time === undefined ? "" : `after ${time}`;
  }
}

function after({ needs }: StepView, { steps }: RunWithSteps): string {
  const open = needs.filter((name) => steps.find((step) => step.name === name)?.state !== "succeeded");
  return open.length > 0 ? `after ${open.join(", ")}` : "";
}

function inTree(seen: Seen, margin: string): Node[] {
  const { steps } = seen.run;
  const parents = parentsOf(steps);
  const below = (parent: string | null): StepView[] =>
    steps.filter(({ name }) => parents.get(name) === parent);
  const walk = (parent: string | null, lead: string): Node[] =>
    below(parent).flatMap((step, index, siblings) => {
      const isLast = index === siblings.length - 1;
      const inner = `${lead}${isLast ? "   " : "│  "}`;
      return [
        { step, branch: `${lead}${isLast ? "└─ " : "├─ "}`, seen },
        ...nested(step, seen, inner),
        ...walk(step.name, inner),
      ];
    });
  return walk(null, margin);
}

/** The steps of the runs that a step is. Why they wait is told by `why`. */
function nested(step: StepView, { now, below = NOTHING_BELOW }: Seen, lead: string): Node[] {
  return below.of(step).flatMap((run) => {
    const seen: Seen = { run, now, whys: new Map(), why: undefined, below };
    return inTree(seen, step.items ? `${lead}${nameOfItem(run)} ` : lead);
  });
}

/** Steps are written after the steps they need, so the parents of their needs are already known. */
function parentsOf(steps: readonly StepView[]): Map<string, string | null> {
  const followers = new Map<string, number>();
  for (const { needs } of steps)
    for (const need of needs) followers.set(need, (followers.get(need) ?? 0) + 1);
  const parents = new Map<string, string | null>();
  const ancestors = (name: string): string[] => {
    const parent = parents.get(name) ?? null;
    return parent === null ? [] : [...ancestors(parent), parent];
  };
  for (const { name, needs } of steps) {
    const [only, another] = needs;
    if (only === undefined) parents.set(name, null);
    else if (another === undefined)
      parents.set(name, (followers.get(only) ?? 0) > 1 ? only : (parents.get(only) ?? null));
    else {
      // Branches meet again here. The step stands beside the step where they split.
      const [first = [], ...others] = needs.map(ancestors);
      const parted = first.filter((each, depth) => others.every((path) => path[depth] === each)).at(-1);
      parents.set(name, parted === undefined ? null : (parents.get(parted) ?? null));
    }
  }
  return parents;
}

const CALM = new Set<StepViewState>(["succeeded", "skipped", "pending", "cancelled"]);

/** If the screen is too small, steps that are done or have not begun are hidden first. */
function fitting(nodes: readonly Node[], rows: number): readonly Node[] {
  if (nodes.length <= rows) return nodes;
  const lively = nodes.filter(({ step }) => !CALM.has(step.state)).slice(0, Math.max(1, rows));
  const calm = nodes.filter(({ step }) => CALM.has(step.state)).slice(0, Math.max(0, rows - lively.length));
  const kept = new Set([...lively, ...calm]);
  return nodes.filter((node) => kept.has(node));
}
