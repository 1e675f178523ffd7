/**
 * The progress of a step over a list: how many of its items are done, in flight, waiting and failed, and how
 * long the rest may take.
 */
import type { RunView, StepView } from "../../api/run-view.ts";
import type { ItemOutcome } from "../../core/run/fan-out.ts";
import { sayDuration } from "../../core/time.ts";
import { bar } from "./progress.ts";
import { isOver, sayError } from "./run-ending.ts";
import { count } from "./say.ts";
import { widthOf } from "./text.ts";

export interface ItemStanding {
  readonly total: number;
  /** Items that ended by themselves, in any way, including those that a rerun took over. */
  readonly done: number;
  readonly inFlight: number;
  readonly waiting: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Undefined if there is no estimate: no item is done, none is left, or the run is paused or over. */
  readonly leftMs: number | undefined;
}

/** Undefined for a step that has no items, or none yet. */
export function standingOf(step: StepView, run: RunView, now: number): ItemStanding | undefined {
  if (!step.items) return undefined;
  return ofOutcomes(step.result) ?? ofCounts(step.items, run, now);
}

/** Once the step has ended, its outcomes say more than the states of its tasks. */
function ofOutcomes(outcomes: unknown): ItemStanding | undefined {
  if (!Array.isArray(outcomes)) return undefined;
  const states = (outcomes as readonly ItemOutcome[]).map(({ state }) => state);
  const cancelled = states.filter((state) => state === "cancelled").length;
  const failed = states.filter((state) => state === "failed").length;
  const total = states.length;
  return { total, done: total - cancelled, inFlight: 0, waiting: 0, failed, cancelled, leftMs: undefined };
}

function ofCounts(items: NonNullable<StepView["items"]>, run: RunView, now: number): ItemStanding {
  const { total, created, running, succeeded, failed, cancelled } = items;
  const waiting = items.waiting + total - created;
  const own = items.waiting + running + succeeded + failed + cancelled;
  const taken = run.rerunOf === null ? 0 : created - own;
  const done = succeeded + failed + taken;
  const leftMs = run.paused || isOver(run.state) ? undefined : timeLeft(items, waiting + running, now);
  return { total, done, inFlight: running, waiting, failed, cancelled, leftMs };
}

/** Assumes the pace since the first item began. */
function timeLeft(
  { since, succeeded, failed }: NonNullable<StepView["items"]>,
  left: number,
  now: number,
): number | undefined {
  const done = succeeded + failed;
  if (since === null || done === 0 || left === 0) return undefined;
  return Math.max(0, ((now - since) / done) * left);
}

export const itemBar = ({ done, total }: ItemStanding): string => bar(total === 0 ? 1 : done / total);

/** Uses words if there is room for them, else the signs that stand before steps. */
export function sayStanding(standing: ItemStanding, room = Number.POSITIVE_INFINITY): string {
  const words = inWords(standing);
  return widthOf(words) <= room ? words : inSigns(standing);
}

function inWords(standing: ItemStanding): string {
  const { total, done, inFlight, waiting, failed, cancelled } = standing;
  const parts: [number, string][] = [
    [inFlight, "in flight"],
    [waiting, "waiting"],
    [failed, "failed"],
    [cancelled, "cancelled"],
  ];
  const said = parts.flatMap(([many, what]) => (many > 0 ? [`${many} ${what}`] : []));
  const left = sayLeft(standing);
  return [
    `${itemBar(standing)} ${done}/${total} done`,
    ...said,
    ...(left ? [`about ${left} left`] : []),
  ].join(", ");
}

function inSigns(standing: ItemStanding): string {
  const { total, done, inFlight, waiting, failed, cancelled } = standing;
  const parts: [number, string][] = [
    [inFlight, "▶"],
    [waiting, "◌"],
    [failed, "✖"],
    [cancelled, "■"],
  ];
  const said = parts.flatMap(([many, sign]) => (many > 0 ? [`${sign}${many}`] : []));
  const left = sayLeft(standing);
  return [`${itemBar(standing)} ${done}/${total}`, ...said, ...(left ? [`about ${left} left`] : [])].join(
    " ",
  );
}

const AN_HOUR = 3_600_000;

/** An estimate needs no milliseconds, and an estimate of hours no seconds. */
export function sayLeft({ leftMs }: ItemStanding): string | undefined {
  if (leftMs === undefined) return undefined;
  const unit = leftMs < AN_HOUR ? 1_000 : 60_000;
  return sayDuration(Math.ceil(leftMs / unit) * unit);
}

/** The outcome of a step over a list, for readers who did not follow it. */
export function sayItemsEnd({ result }: StepView, standing: ItemStanding): string {
  const { total, failed, cancelled } = standing;
  if (failed + cancelled === 0) return count(total, "item");
  if (failed === 0) return `${cancelled} of ${count(total, "item")} cancelled`;
  const rest = cancelled > 0 ? `, ${cancelled} cancelled` : "";
  return `${failed} of ${count(total, "item")} failed${rest}${firstFailure(result)}`;
}

function firstFailure(outcomes: unknown): string {
  if (!Array.isArray(outcomes)) return "";
  const index = (outcomes as readonly ItemOutcome[]).findIndex(({ state }) => state === "failed");
  return index < 0 ? "" : `; item ${index}: ${sayError(outcomes[index].error ?? undefined)}`;
}
