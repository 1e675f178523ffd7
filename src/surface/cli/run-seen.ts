/** A snapshot of a watched run: its steps, and why the waiting ones wait. */
import type { ItemView } from "../../api/item-view.ts";
import type { RunWithSteps, StepView } from "../../api/run-view.ts";
import type { Sluice } from "../../api/sluice.ts";
import { unknownRun } from "../../api/unknown.ts";
import { describe } from "../../core/gate/describe.ts";

/** Why something waits. The gist leaves out durations, which change constantly and are not news. */
export interface Why {
  readonly text: string;
  readonly gist: string;
}

export interface Seen {
  readonly run: RunWithSteps;
  readonly now: number;
  /** Why each waiting step waits, by step. */
  readonly whys: ReadonlyMap<string, Why>;
  /** Why the run itself is queued. */
  readonly why: string | undefined;
}

/** At most this many steps are explained, because each explanation reads a whole line. */
const MOST_ASKED = 10;

export async function lookAt(sluice: Sluice, id: string): Promise<Seen> {
  const [run, now] = await Promise.all([sluice.runs.get(id), sluice.now()]);
  if (!run) throw unknownRun(id);
  const waiting = run.steps.filter(({ state }) => state === "waiting").slice(0, MOST_ASKED);
  const whys = await Promise.all(
    waiting.map(async (step) => [step.name, await whyStep(sluice, id, step)] as const),
  );
  const why = run.state === "queued" ? await whyQueued(sluice, id) : undefined;
  return { run, now, whys: new Map(whys), why };
}

async function whyStep(sluice: Sluice, run: string, step: StepView): Promise<Why> {
  const unit = step.unit ?? (await nextItem(sluice, run, step))?.unit;
  if (unit === undefined) return { text: "", gist: "" };
  const { reasons, sentences } = await sluice.explain(unit);
  const gist = reasons.map((reason) => describe(reason, { now: 0, timeless: true }));
  return { text: said(sentences), gist: gist.join("; ") };
}

/** Items that wait for another attempt may come before the next one, so several are read. */
const A_PAGE = 50;

/**
 * The next item of a list. Items begin in order, so its index is about the number of items that have begun.
 */
export async function nextItem(sluice: Sluice, run: string, step: StepView): Promise<ItemView | undefined> {
  if (!step.items) return undefined;
  const { running, succeeded, failed } = step.items;
  const page = await sluice.runs.items(run, step.name, {
    after: running + succeeded + failed - 1,
    limit: A_PAGE,
  });
  return page.find(({ state }) => state === "waiting");
}

/** The run may be admitted between two looks. Then it has no reasons. */
async function whyQueued(sluice: Sluice, id: string): Promise<string> {
  const queued = await sluice.queue.why(id).catch(() => undefined);
  return said(queued?.sentences ?? []);
}

const said = (sentences: readonly { readonly text: string }[]): string =>
  sentences.map(({ text }) => text).join("; ");
