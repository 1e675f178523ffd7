/** Explains why a run does not advance, and what its steps wait for. All of it is seen at one instant. */
import { pausedWith, runGateKey } from "../core/gate/key.ts";
import type { Reason } from "../core/gate/reason.ts";
import { isAttended } from "../engine/claiming/serving.ts";
import type { Replaced, RunRow, RunWaits, SessionRow, WaitView } from "../store/store.ts";
import { RUNS } from "../store/store.ts";
import type { Told } from "./explain.ts";
import { explainWait, isUnset, told } from "./explain.ts";
import { eachInTurn } from "./in-turn.ts";
import type { RunWithSteps, StepView } from "./run-view.ts";
import { runWithSteps } from "./run-view.ts";
import { awaits } from "./wait-view.ts";

/** The wait of a step, or of the next item of a step over a list. */
export interface StepWhy extends Told {
  readonly step: string;
  /** The ID of its task, or of the item's task. Null for a step that waits for a time, an event or a person. */
  readonly unit: string | null;
  /** The index of the next item in its list. */
  readonly item?: number;
}

export interface RunWhy {
  readonly run: RunWithSteps;
  /** When all this was seen, by the clock of the store. */
  readonly now: number;
  /** The reasons why the run itself does not advance. */
  readonly reasons: readonly Reason[];
  /** The steps that wait. A step without reasons starts in the next pass. */
  readonly waiting: readonly StepWhy[];
}

/** `line` is the wait of the run itself, if it is in line. */
export async function runWhy(
  seen: RunWaits,
  replaced: () => Promise<readonly Replaced[]>,
  line?: WaitView,
): Promise<RunWhy> {
  const unset = await eachInTurn(seen.waits, ({ view }) => isUnset(explainWait(view)));
  const limits = unset.includes(true) ? await replaced() : [];
  const run = runWithSteps(seen);
  return {
    run,
    now: seen.now,
    reasons: line ? explainWait(line, limits).reasons : reasonsOfRun(seen.run, seen.sessions),
    waiting: [
      ...(await eachInTurn(seen.waits, ({ step, item, view }): StepWhy => {
        const { id: unit, reasons, sentences } = explainWait(view, limits);
        return { step, unit, ...(item === null ? {} : { item }), reasons, sentences };
      })),
      ...run.steps.flatMap((step) => whyWaiting(run.id, step, seen.now)),
    ],
  };
}

/** A step that waits for no slots. */
function whyWaiting(run: string, { name, state, wait }: StepView, now: number): StepWhy[] {
  if (state !== "waiting" || !wait) return [];
  return [{ step: name, unit: null, ...told([awaits(run, name, wait)], now) }];
}

/** A pause, or no live worker. */
export function reasonsOfRun(
  { id, state, paused, workflow }: RunRow,
  sessions: readonly Pick<SessionRow, "id" | "serves">[],
): readonly Reason[] {
  if (state !== "started" && state !== "notStarted") return [];
  const isAlone = !isAttended(sessions);
  return [
    ...(paused ? [{ kind: "paused", gate: pausedWith(runGateKey(id, "")), ahead: 0 } as const] : []),
    ...(isAlone ? [{ kind: "noWorker", queue: RUNS, name: workflow } as const] : []),
  ];
}
