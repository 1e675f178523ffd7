/**
 * `sluice runs show RUN` shows everything that is stored about one run, its steps, and what each waited for.
 */
import type { Command } from "commander";
import type { RunWithSteps, StepView } from "../../api/run-view.ts";
import type { StepWaits } from "../../api/runs.ts";
import type { StoppingView } from "../../api/stopping.ts";
import { awaits } from "../../api/wait-view.ts";
import { describe } from "../../core/gate/describe.ts";
import { gateTitle } from "../../core/gate/kind.ts";
import { sayDuration } from "../../core/time.ts";
import type { Below } from "./below.ts";
import { nameOfItem, readBelow } from "./below.ts";
import { withRun } from "./common.ts";
import { findRun } from "./find.ts";
import type { ItemStanding } from "./item-standing.ts";
import { itemBar, sayItemsEnd, sayLeft, standingOf } from "./item-standing.ts";
import { print } from "./output.ts";
import {
  cancelledBy,
  rootOf,
  runStateCell,
  sayError,
  saySkipped,
  stepRanFor,
  stepWaitedFor,
} from "./run-ending.ts";
import { historyOf } from "./run-history.ts";
import { count, sayTags, stateCell, when } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { appFile, toPaste } from "./settings.ts";
import { stoppingLines } from "./stopping.ts";
import type { Cell } from "./table.ts";
import { fields, table } from "./table.ts";
import { colours, cutTo } from "./text.ts";
import { withStore } from "./with-store.ts";

export function addRunShow(runs: Command): void {
  withRun(runs.command("show"))
    .description("one run: its steps, what each waited for and how long, its results or errors")
    .option("--events", "also show everything that happened, in order")
    .action((run: string, _, command: Command) => show(run, command.optsWithGlobals()));
}

function show(given: string, options: GlobalOptions & { readonly events?: boolean }): Promise<void> {
  return withStore(options, async (sluice) => {
    const id = await findRun(sluice, given, options);
    const [run, waits, events, stopping, now] = await Promise.all([
      sluice.runs.get(id),
      sluice.runs.waits(id),
      sluice.runs.events(id),
      sluice.stopping(id),
      sluice.now(),
    ]);
    const found = run as RunWithSteps;
    const below = await readBelow(sluice, found, options.json ? 0 : MOST_BELOW);
    print(options, { ...found, waits, events, stopping }, () =>
      [
        about(found, stopping, now),
        stepsOf(found, waits, below, now),
        ...itemsOf(found, now),
        ...(options.events ? [historyOf(events)] : []),
        ...next(found, options),
      ].join("\n"),
    );
  });
}

function about(run: RunWithSteps, stopping: readonly StoppingView[], now: number): string {
  const { startedAt, finishedAt, dequeuedAt, queuedAt } = run;
  return fields([
    ["run", run.id],
    ["workflow", run.workflow],
    ["state", runStateCell(run)],
    ["priority", String(run.priority)],
    ["tags", sayTags(run.tags)],
    ["source", run.source],
    run.child ? ["step of", sayChild(run.child)] : undefined,
    run.rerunOf === null ? undefined : ["rerun of", run.rerunOf],
    run.idempotencyKey === null ? undefined : ["key", run.idempotencyKey],
    ["queued", when(queuedAt, now)],
    dequeuedAt === null
      ? undefined
      : ["admitted", `${when(dequeuedAt, now)}, after ${sayDuration(dequeuedAt - queuedAt)} in line`],
    startedAt === null ? undefined : ["started", when(startedAt, now)],
    finishedAt === null
      ? undefined
      : [
          "ended",
          `${when(finishedAt, now)}${startedAt === null ? "" : `, after ${sayDuration(finishedAt - startedAt)}`}`,
        ],
    ...stoppingLines(stopping, now).map((text): [string, string] => ["stopping", text]),
    ["input", JSON.stringify(run.input) ?? "-"],
    run.result === undefined ? undefined : ["result", JSON.stringify(run.result)],
    run.error === undefined || run.state !== "failed"
      ? undefined
      : ["error", { text: sayError(run.error), style: colours.red }],
    run.state === "cancelled" ? ["cancelled", cancelledBy(run) ?? "-"] : undefined,
  ]);
}

function sayChild({ root, parent, step, item }: NonNullable<RunWithSteps["child"]>): string {
  const name = item === undefined ? step : `${step}[${item}]`;
  return `${name} of run ${parent}${parent === root ? "" : `, below run ${root}`}`;
}

function stepsOf(run: RunWithSteps, waits: StepWaits, below: Below, now: number): string {
  const rows = rowsOf(run, waits, below, now, "");
  const more = below.more ? `\n${colours.dim("  … and more below. Show a child run by its ID.")}` : "";
  return `${table(["step", "state", "attempt", "waited", "ran for", "result"], rows)}${more}`;
}

type Row = (string | Cell)[];

/** The steps of a child run stand below its step. */
function rowsOf(run: RunWithSteps, waits: StepWaits, below: Below, now: number, lead: string): Row[] {
  return run.steps.flatMap((step) => [
    [
      `${lead}${step.name}${step.kind === "workflow" ? ` → ${step.task}` : ""}`,
      stateCell(step.state),
      step.attempt === 0 || step.kind !== "task" ? "-" : String(step.attempt),
      waited(step, waits[step.name] ?? [], now),
      step.takenOver ? `reused from ${step.takenOver}` : (stepRanFor(step, now) ?? "-"),
      withChild(step, outcome(step, run, now)),
    ],
    ...below.of(step).flatMap((child) => rowsBelow(step, child, below, now, `${lead}  `)),
  ]);
}

/** A person needs the ID of a run below this one to look into it. What has succeeded is shown whole. */
function withChild({ kind, unit, items, state }: StepView, cell: Cell): Cell {
  const isRun = (kind === "workflow" || kind === "group") && !items;
  if (!isRun || unit === null || state === "succeeded") return cell;
  return { ...cell, text: `run ${unit}${cell.text === "" ? "" : `: ${cell.text}`}` };
}

function rowsBelow(step: StepView, child: RunWithSteps, below: Below, now: number, lead: string): Row[] {
  if (!step.items) return rowsOf(child, {}, below, now, lead);
  const head: Row = [`${lead}${nameOfItem(child)}`, runStateCell(child), "-", "-", "-", { text: child.id }];
  return [head, ...rowsOf(child, {}, below, now, `${lead}  `)];
}

/** The progress of each step over a list. */
function itemsOf(run: RunWithSteps, now: number): string[] {
  const fans = run.steps.flatMap((step) => {
    const standing = standingOf(step, run, now);
    return standing ? [{ step, standing }] : [];
  });
  if (fans.length === 0) return [];
  const rows = fans.map(({ step, standing }) => [
    step.name,
    `${itemBar(standing)} ${standing.done}/${standing.total}`,
    String(standing.inFlight),
    String(standing.waiting),
    { text: String(standing.failed), style: standing.failed > 0 ? colours.red : undefined },
    String(standing.cancelled),
    left(standing),
  ]);
  return [table(["items of", "done", "in flight", "waiting", "failed", "cancelled", "time left"], rows)];
}

function left(standing: ItemStanding): string {
  const estimate = sayLeft(standing);
  return estimate === undefined ? "-" : `~${estimate}`;
}

/**
 * The wait at each gate, longest first. Without any, the time the step stood in line until it was claimed.
 */
function waited(step: StepView, perGate: StepWaits[string], now: number): string {
  const answered = stepWaitedFor(step, now);
  if (answered !== undefined) return answered;
  if (perGate.length > 0)
    return perGate.map(({ gate, forMs }) => `${sayDuration(forMs)} on ${gateTitle(gate)}`).join(", ");
  const stood = step.inLine.map(({ from, until }) => (until ?? now) - from);
  return stood.length === 0 ? "-" : sayDuration(stood.reduce((sum, ms) => sum + ms));
}

/** The most child runs that are shown with their steps. */
const MOST_BELOW = 20;

/** The data for scripts contains the full text. */
const MOST_SHOWN = 200;

function outcome(step: StepView, run: RunWithSteps, now: number): Cell {
  const standing = standingOf(step, run, now);
  if (standing) return itemsOutcome(step, standing);
  if (step.error) return { text: cutTo(sayError(step.error), MOST_SHOWN), style: colours.red };
  if (step.state === "skipped") return { text: saySkipped(step), style: colours.dim };
  if (step.state === "pending")
    return { text: step.needs.length > 0 ? `after ${step.needs.join(", ")}` : "", style: colours.dim };
  if (step.state === "waiting" && step.wait)
    return { text: cutTo(describe(awaits(run.id, step.name, step.wait), { now }), MOST_SHOWN) };
  const shown = step.state === "succeeded" ? step.result : step.progress;
  const text = JSON.stringify(shown) ?? "";
  return { text: cutTo(step.state === "succeeded" || text === "" ? text : `progress ${text}`, MOST_SHOWN) };
}

function itemsOutcome(step: StepView, standing: ItemStanding): Cell {
  if (step.state === "succeeded") return { text: cutTo(JSON.stringify(step.result), MOST_SHOWN) };
  if (step.state !== "failed") return { text: count(standing.total, "item"), style: colours.dim };
  return { text: cutTo(sayItemsEnd(step, standing), MOST_SHOWN), style: colours.red };
}

function next(run: RunWithSteps, options: GlobalOptions): string[] {
  const { id, state, paused, steps } = run;
  if (state === "failed")
    return [
      ...steps.flatMap(({ name, state: was, items }) =>
        was === "failed" && items
          ? [`Items that failed: ${toPaste(options, `runs items ${id} ${name} --failed`)}`]
          : [],
      ),
      `Run it again, keeping what succeeded: ${toPaste(options, `runs rerun ${appFile()} ${rootOf(run)}`)}`,
    ];
  if (paused && state === "started")
    return [`It is paused. To resume: ${toPaste(options, `runs resume ${rootOf(run)}`)}`];
  if (state === "queued" || state === "started" || state === "notStarted")
    return [`What it waits for: ${toPaste(options, `why ${id}`)}`];
  return [];
}
