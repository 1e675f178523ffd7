/** A person's answer to a step that waits for one. */
import { SluiceError } from "../core/error.ts";
import { checkBy, checkText, LONGEST_LIST, shortly } from "../core/text.ts";
import type { Graph, WaitStep } from "../core/workflow/graph.ts";
import type { RunDetail, Store, WaitAnswer } from "../store/store.ts";
import type { OptionNames } from "./call-options.ts";
import { knownOptions } from "./call-options.ts";
import { readable } from "./readable.ts";
import { findStep } from "./step-path.ts";

export interface AnswerOptions {
  readonly by?: string;
  readonly note?: string;
}

const OF_ANSWER: OptionNames<AnswerOptions> = { by: true, note: true };

/** The step may be in a run below this one. Refuses an answer of somebody else than those whom the step names. */
export async function answerStep(
  store: Store,
  top: RunDetail,
  path: string,
  approves: boolean,
  options: AnswerOptions,
): Promise<void> {
  const verb = approves ? "runs.approve" : "runs.reject";
  const { by = "code", note } = knownOptions(verb, options, OF_ANSWER);
  checkBy(by);
  if (note !== undefined) checkText("The note", note, LONGEST_LIST);
  const { detail, step } = await findStep(store, top, path);
  const run = detail.run.id;
  mayAnswer(questionOf(detail, step), run, by);
  const given = { by, note: note ?? null, at: await store.now() };
  const done = await store.answerWait({ run, step }, approves ? approved(given) : rejected(step, given));
  store.hint("runs");
  if (!done) throw notWaiting(run, step, done === false ? "has an answer already" : "does not wait");
}

interface Given {
  readonly by: string;
  readonly note: string | null;
  readonly at: number;
}

const toldOf = (how: "approved" | "rejected", { by, note }: Given): string =>
  JSON.stringify({ how, by, ...(note === null ? {} : { note }) });

const approved = (given: Given): WaitAnswer => ({
  state: "succeeded",
  body: JSON.stringify({ approved: true, ...given }),
  told: toldOf("approved", given),
});

function rejected(step: string, given: Given): WaitAnswer {
  const { by, note } = given;
  const message = `${by} rejected step "${step}"${note === null ? "." : `: ${note}`}`;
  return {
    state: "failed",
    body: JSON.stringify({ name: "Error", code: "REJECTED", message, by, note }),
    told: toldOf("rejected", given),
  };
}

function questionOf({ run, graph }: RunDetail, name: string): WaitStep {
  const { steps = [] } = readable(graph) as Partial<Graph>;
  const step = steps.find((each) => each.name === name);
  if (step?.kind === "wait" && step.wait.for === "approval") return step;
  throw notWaiting(run.id, name, "asks nobody");
}

function mayAnswer({ name, wait }: WaitStep, run: string, by: string): void {
  const allowed = wait.for === "approval" ? wait.by : null;
  if (allowed === null || allowed.includes(by)) return;
  throw new SluiceError(
    "NOT_ALLOWED",
    `step "${name}" of run ${run} can be answered by ${allowed.join(", ")}, but not by ${shortly(by)}.`,
  );
}

const notWaiting = (run: string, step: string, what: string): SluiceError =>
  new SluiceError("NOT_WAITING", `step "${step}" of run ${run} ${what}. There is nothing to answer.`, {
    remedies: [{ action: "explainRun", run }],
  });
