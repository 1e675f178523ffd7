/** A snapshot of a watched run: its steps, and why the waiting ones wait. */
import type { RunWithSteps } from "../../api/run-view.ts";
import type { StepWhy } from "../../api/run-why.ts";
import type { Sluice } from "../../api/sluice.ts";
import type { Reason } from "../../core/gate/reason.ts";
import type { Below } from "./below.ts";
import { readBelow } from "./below.ts";

/** Why something waits. The gist has only kinds and gates: holders and durations change constantly and are not news. */
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
  readonly why: Why | undefined;
  /** The child runs in progress. */
  readonly below?: Below;
}

/** At most this many steps are explained, because each explanation reads a part of a line. */
const MOST_ASKED = 10;

/** At most this many child runs are shown with their steps. */
const MOST_BELOW = 20;

export async function lookAt(sluice: Sluice, id: string): Promise<Seen> {
  const { run, now, waiting } = await sluice.runs.why(id, { most: MOST_ASKED });
  const why = run.state === "queued" ? await whyQueued(sluice, id) : undefined;
  const below = await readBelow(
    sluice,
    run,
    MOST_BELOW,
    ({ state }) => state === "running" || state === "failed",
  );
  return { run, now, whys: new Map(waiting.map((step) => [step.step, whyStep(step)])), why, below };
}

function whyStep({ reasons, sentences }: StepWhy): Why {
  return { text: said(sentences), gist: gistOf(reasons) };
}

const gistOf = (reasons: readonly Reason[]): string =>
  reasons.map((reason) => `${reason.kind} ${"gate" in reason ? reason.gate : ""}`).join("; ");

/** The run may be admitted between two looks. Then it has no reasons. */
async function whyQueued(sluice: Sluice, id: string): Promise<Why> {
  const { sentences = [], reasons = [] } = (await sluice.queue.why(id).catch(() => undefined)) ?? {};
  return { text: said(sentences), gist: gistOf(reasons) };
}

const said = (sentences: readonly { readonly text: string }[]): string =>
  sentences.map(({ text }) => text).join("; ");
