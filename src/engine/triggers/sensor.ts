/**
 * A look through a sensor: calls the user's function with a time limit. Its answer is taken whole or not at
 * all. After an error its cursor stays, and it looks again after its interval.
 */
import { SluiceError } from "../../core/error.ts";
import { jsonText } from "../../core/json.ts";
import type { SensorAnswer, SensorSubmission } from "../../core/schedule/definition.ts";
import { workflowId } from "../../core/schedule/definition.ts";
import type { SensorState } from "../../core/schedule/state.ts";
import type { AppSensor, SensorSpec } from "../../core/schedule/trigger.ts";
import { LONGEST_TEXT, shortly, textProblem } from "../../core/text.ts";
import { formatDuration } from "../../core/time.ts";
import type { Env } from "../../env/env.ts";
import type { NewRun } from "../../store/runs.ts";
import type { Look, TriggerDecision } from "./decision.ts";
import { messageOf, optionsOf } from "./decision.ts";

/** A sensor must spread more runs than this over several looks. */
const MOST_AT_ONCE = 1_000;

/** Undefined if it was told to stop. */
export async function lookThroughSensor(
  look: Look,
  sensor: AppSensor,
  env: Env,
  stop: AbortSignal,
): Promise<TriggerDecision> {
  const { row, now } = look;
  const { everyMs, timeoutMs } = JSON.parse(row.spec) as SensorSpec;
  const state = JSON.parse(row.state) as SensorState;
  const nextAt = now + everyMs;
  try {
    const answer = await inTime(env, timeoutMs, stop, (signal) =>
      sensor.run({ cursor: state.cursor, signal }),
    );
    const submit = await runsOf(look, sensor, answer);
    const { cursor = state.cursor } = answer;
    const { error: _, ...before } = state;
    const last = submit.length > 0 ? { lastRun: submit.at(-1)?.id, lastRunAt: now } : {};
    jsonText(cursor, "cursor");
    return { state: JSON.stringify({ ...before, ...last, cursor, lookedAt: now }), nextAt, submit };
  } catch (error) {
    if (stop.aborted) return undefined;
    const failed: SensorState = { ...state, lookedAt: now, error: { message: messageOf(error), at: now } };
    return { state: JSON.stringify(failed), nextAt, submit: [] };
  }
}

async function runsOf(look: Look, sensor: AppSensor, answer: SensorAnswer): Promise<NewRun[]> {
  if (typeof answer !== "object" || answer === null)
    throw new SluiceError(
      "BAD_ANSWER",
      `A sensor must return { cursor, submit: [ … ] }, but this one returned ${answer}.`,
    );
  const { submit = [] } = answer;
  if (!Array.isArray(submit) || submit.length > MOST_AT_ONCE)
    throw new SluiceError(
      "BAD_ANSWER",
      `A sensor may submit a list of at most ${MOST_AT_ONCE} runs at once, but this one returned ${Array.isArray(submit) ? submit.length : typeof submit}. Submit some, and continue from the cursor.`,
    );
  const runs: NewRun[] = [];
  for (const each of submit as readonly SensorSubmission[]) runs.push(await runOf(look, sensor, each));
  return runs;
}

function runOf({ toRun }: Look, sensor: AppSensor, submission: SensorSubmission): Promise<NewRun> {
  const workflow = submission.workflow === undefined ? sensor.workflow : workflowId(submission.workflow);
  if (!workflow)
    throw new SluiceError(
      "UNKNOWN_WORKFLOW",
      "Neither the sensor nor its submission says which workflow to run.",
    );
  const { key, tags, priority } = submission;
  const options = optionsOf(sensor, key);
  const problem = typeof key === "string" && key !== "" ? textProblem(options.key) : textProblem(key);
  if (problem)
    throw new SluiceError(
      "BAD_KEY",
      `Each submission of a sensor needs a key, a string of 1 to ${LONGEST_TEXT - `sensor:${sensor.id}:`.length} bytes that says which run it is. This one ${problem}: ${shortly(key)}.`,
    );
  return toRun(workflow, submission.input, {
    ...options,
    tags: { ...options.tags, ...tags },
    priority: priority ?? options.priority,
  });
}

/** Its code may ignore the signal. Its answer is then not awaited. */
async function inTime<T>(
  env: Env,
  ms: number,
  stop: AbortSignal,
  work: (signal: AbortSignal) => Promise<T> | T,
): Promise<T> {
  const over = new AbortController();
  const late = new SluiceError("TIMEOUT", `The sensor did not answer within ${formatDuration(ms)}.`);
  const cancel = env.after(ms, () => over.abort(late));
  const stopped = (): void => over.abort(stop.reason);
  stop.addEventListener("abort", stopped);
  if (stop.aborted) stopped();
  const ended = new Promise<never>((_, reject) => {
    over.signal.addEventListener("abort", () => reject(over.signal.reason), { once: true });
  });
  try {
    over.signal.throwIfAborted();
    return await Promise.race([work(over.signal), ended]);
  } finally {
    cancel();
    stop.removeEventListener("abort", stopped);
  }
}
