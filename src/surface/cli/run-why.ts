/**
 * `sluice why RUN` shows what keeps a run in line, or which of its steps run and what the others wait for.
 */
import type { RunWithSteps, StepView } from "../../api/run-view.ts";
import type { StepWhy } from "../../api/run-why.ts";
import type { Sluice } from "../../api/sluice.ts";
import type { Reason } from "../../core/gate/reason.ts";
import { sayDuration } from "../../core/time.ts";
import { itemsInFlight } from "./below.ts";
import type { ItemStanding } from "./item-standing.ts";
import { sayStanding, standingOf } from "./item-standing.ts";
import { print } from "./output.ts";
import { whyQueued } from "./queue.ts";
import { reasonLines } from "./reason-lines.ts";
import { withCommands } from "./remedy.ts";
import { isOver, ranFor, rootOf, runEnding, stepRanFor } from "./run-ending.ts";
import { count } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { appFile, toPaste } from "./settings.ts";
import { stoppingLines } from "./stopping.ts";
import { colours, safe, safeLines } from "./text.ts";

interface Asked {
  readonly step: StepView;
  /** For a waiting step. For a step over a list, it explains the next item. */
  readonly why: StepWhy | undefined;
  /** Steps that must end before this one is put in line. */
  readonly needs: readonly string[];
  /** For a step that is a run in progress: the same of its own steps. */
  readonly below?: Below | undefined;
  /** For a step over a list whose items are runs: the same of items in flight. */
  readonly inFlight?: readonly Below[];
}

interface Seen {
  readonly run: RunWithSteps;
  /** The reasons why the run itself does not continue. */
  readonly reasons: readonly Reason[];
  readonly steps: readonly Asked[];
}

/** A run below the one that was asked about. */
type Below = Seen;

export async function whyRun(sluice: Sluice, id: string, options: GlobalOptions): Promise<void> {
  const { run: found, now, reasons, waiting } = await sluice.runs.why(id);
  const { workflow, state, paused, priority, tags } = found;
  const data = { id, workflow, state, paused, priority, tags };
  if (state === "queued") {
    const queued = await sluice.queue.why(id);
    const sentences = withCommands(queued.sentences, options);
    return print(options, { ...data, ...queued, sentences }, () => whyQueued(queued, now, options));
  }
  const ending = runEnding(found, now);
  if (ending !== undefined) {
    const stopping = await sluice.stopping(id);
    const told = stopping.length > 0 ? { stopping } : {};
    const below = stoppingLines(stopping, now).map((text) => `\n  It holds its slots: ${text}.`);
    return print(
      options,
      { ...data, ending, ...told },
      () => `${finished(found, ending, options)}${below.join("")}`,
    );
  }
  const steps = await askBelow(sluice, found, waiting, { left: MOST_BELOW });
  print(options, { ...data, reasons, steps: steps.map((asked) => dataOf(asked, options)) }, () =>
    story({ run: found, reasons, steps }, now, options),
  );
}

/** The most child runs that are explained. */
const MOST_BELOW = 20;

/** Child runs are explained with their parents, as far as `room` allows. Of a list, some items in flight are. */
async function askBelow(
  sluice: Sluice,
  run: RunWithSteps,
  waiting: readonly StepWhy[],
  room: { left: number },
): Promise<Asked[]> {
  const steps: Asked[] = [];
  for (const step of run.steps) {
    const asked = ask(run, step, waiting);
    const isInProgress = step.kind !== "task" && step.state === "running";
    if (!isInProgress) steps.push(asked);
    else if (step.items) {
      const inFlight: Below[] = [];
      for (const { unit } of await itemsInFlight(sluice, run.id, step, room.left))
        inFlight.push(...(await askChild(sluice, unit, room)));
      steps.push({ ...asked, inFlight });
    } else {
      const [below] = step.unit === null ? [] : await askChild(sluice, step.unit, room);
      steps.push({ ...asked, below });
    }
  }
  return steps;
}

/** Nothing if there is no room left. */
async function askChild(sluice: Sluice, id: string, room: { left: number }): Promise<Below[]> {
  if (room.left <= 0) return [];
  room.left -= 1;
  const { run, reasons, waiting } = await sluice.runs.why(id);
  return [{ run, reasons, steps: await askBelow(sluice, run, waiting, room) }];
}

const ask = (run: RunWithSteps, step: StepView, waiting: readonly StepWhy[]): Asked => ({
  step,
  needs: step.state === "pending" ? openNeeds(step, run) : [],
  why: waiting.find((each) => each.step === step.name),
});

function dataOf({ step, why, needs: units, below, inFlight }: Asked, options: GlobalOptions): object {
  const { name, state, unit, needs, attempt, items } = step;
  const next = why?.item === undefined ? {} : { next: { index: why.item, unit: why.unit } };
  return {
    name,
    state,
    unit,
    needs,
    attempt,
    ...(items ? { items, ...next } : {}),
    ...(why ? { reasons: why.reasons, sentences: withCommands(why.sentences, options) } : {}),
    ...(units.length > 0 ? { reasons: [{ kind: "needs", units }] } : {}),
    ...(below ? { steps: below.steps.map((each) => dataOf(each, options)) } : {}),
    ...(inFlight ? { inFlight: inFlight.map((each) => itemOf(each, options)) } : {}),
  };
}

const itemOf = ({ run, steps }: Below, options: GlobalOptions): object => ({
  index: run.child?.item,
  unit: run.id,
  steps: steps.map((each) => dataOf(each, options)),
});

function finished(run: RunWithSteps, ending: string, options: GlobalOptions): string {
  const head = `${colours.bold(safe(run.workflow))} ${run.id} ${safeLines(ending)}`;
  if (run.state === "succeeded") return head;
  return `${head}\n  Run it again, keeping what succeeded: ${colours.cyan(toPaste(options, `runs rerun ${appFile()} ${rootOf(run)}`))}`;
}

function story({ run, reasons, steps }: Seen, now: number, options: GlobalOptions): string {
  const done = steps.filter(({ step }) => step.state === "succeeded").length;
  const time = ranFor(run, now);
  const progress = `${done} of ${count(steps.length, "step")} done`;
  const isHeldUp = reasons.length > 0;
  const where =
    time === undefined
      ? isHeldUp
        ? "was admitted and cannot start, because"
        : "was admitted and starts as soon as a worker looks."
      : `has been in progress for ${time}, ${progress}${isHeldUp ? ", and cannot continue, because" : ":"}`;
  return [
    `${colours.bold(safe(run.workflow))} ${run.id} ${where}`,
    ...reasonLines(reasons, now, options),
    ...steps.flatMap((asked) => ofStep(asked, run, now, options)),
  ].join("\n");
}

function ofStep(asked: Asked, run: RunWithSteps, now: number, options: GlobalOptions): string[] {
  const standing = standingOf(asked.step, run, now);
  const isOpen = asked.step.state === "running" || asked.step.state === "waiting";
  if (standing) return isOpen ? ofItems(asked, standing, now, options) : [];
  const { below } = asked;
  const nested = below?.steps.flatMap((each) => ofStep(each, below.run, now, options)) ?? [];
  return [...ofOne(asked, run, now, options), ...nested.map((line) => `  ${line}`)];
}

/** The reasons of the next item also hold for all items after it. */
function ofItems(
  { step, why, inFlight = [] }: Asked,
  standing: ItemStanding,
  now: number,
  options: GlobalOptions,
): string[] {
  const head = [
    `  step ${colours.bold(safe(step.name))}  ${sayStanding(standing)}`,
    ...inFlight.flatMap((item) => ofItem(item, now, options)),
  ];
  if (!why) return head;
  const reasons = reasonLines(why.reasons, now, options, 6);
  const next = `    item ${why.item} ${why.unit} comes next`;
  return reasons.length > 0
    ? [...head, `${next}, and waits because`, ...reasons]
    : [...head, `${next}. Nothing blocks it; it starts in the next pass.`];
}

/** An item that is a run in progress. */
function ofItem({ run, steps }: Below, now: number, options: GlobalOptions): string[] {
  const lines = steps.flatMap((each) => ofStep(each, run, now, options));
  return [
    `    item ${run.child?.item ?? "?"} ${run.id} is in flight:`,
    ...lines.map((line) => `    ${line}`),
  ];
}

function ofOne(
  { step, why, needs }: Asked,
  run: RunWithSteps,
  now: number,
  options: GlobalOptions,
): string[] {
  const name = `step ${colours.bold(safe(step.name))}`;
  const attempt = step.attempt > 1 ? `, attempt ${step.attempt}` : "";
  switch (step.state) {
    case "running":
      return [`  ${name} ${step.unit} has been running for ${stepRanFor(step, now)}${attempt}.`];
    case "waiting":
    case "later": {
      if (step.wait)
        return [`  ${name} does not go on, because`, ...reasonLines(why?.reasons ?? [], now, options, 4)];
      const reasons = reasonLines(why?.reasons ?? [], now, options, 4);
      const since = sayDuration(now - (step.inLine.at(-1)?.from ?? now));
      const wait =
        step.attempt > 0 ? `waits for attempt ${step.attempt + 1}` : `has been waiting for ${since}`;
      const start = step.state === "later" ? "will be retried:" : `${wait}, because`;
      return reasons.length > 0
        ? [`  ${name} ${step.unit} ${start}`, ...reasons]
        : [`  ${name} ${step.unit} is in line. Nothing blocks it; it starts in the next pass.`];
    }
    case "pending":
      return isOver(run.state) ? [] : [`  ${name} comes after ${needs.join(", ") || nextLook(run)}.`];
    default:
      return [];
  }
}

const nextLook = ({ paused }: RunWithSteps): string =>
  paused ? "the run is resumed" : "a worker's next look at the run";

/** The needed steps that have not ended. */
function openNeeds({ needs }: StepView, { steps }: RunWithSteps): string[] {
  return needs.filter((need) => steps.find(({ name }) => name === need)?.finishedAt === null);
}
