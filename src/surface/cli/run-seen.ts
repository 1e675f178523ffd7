/** A run as it is looked at while it is watched: its steps, and why those that wait do. */
import type { ItemView } from "../../api/item-view.ts";
import type { RunWithSteps, StepView } from "../../api/run-view.ts";
import type { Sluice } from "../../api/sluice.ts";
import { unknownRun } from "../../api/unknown.ts";
import { describe } from "../../core/gate/describe.ts";

/** Why something waits; the gist leaves out for how long, which changes all the time and is no news. */
export interface Why {
  readonly text: string;
  readonly gist: string;
}

export interface Seen {
  readonly run: RunWithSteps;
  readonly now: number;
  /** By step: why it waits. */
  readonly whys: ReadonlyMap<string, Why>;
  /** Why the run itself is queued. */
  readonly why: string | undefined;
}

/** More than these are not asked for: each is a look at a whole line. */
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

/** Behind those that had to wait for another attempt. */
const A_PAGE = 50;

/** The item of a list that comes next: items begin in their order, so it stands about as far in as items have begun. */
export async function nextItem(sluice: Sluice, run: string, step: StepView): Promise<ItemView | undefined> {
  if (!step.items) return undefined;
  const { running, succeeded, failed } = step.items;
  const page = await sluice.runs.items(run, step.name, {
    after: running + succeeded + failed - 1,
    limit: A_PAGE,
  });
  return page.find(({ state }) => state === "waiting");
}

/** It may be let in between two looks, and then nothing keeps it. */
async function whyQueued(sluice: Sluice, id: string): Promise<string> {
  const queued = await sluice.queue.why(id).catch(() => undefined);
  return said(queued?.sentences ?? []);
}

const said = (sentences: readonly { readonly text: string }[]): string =>
  sentences.map(({ text }) => text).join("; ");
