/** Answers what the code of a task asks of the store: the same verbs as a program has, in the name of the task. */
import { SluiceError } from "../core/error.ts";
import type { ClientCall, OncePerTask } from "../core/task/client-call.ts";
import type { EnqueueOptions } from "../core/task/enqueue-options.ts";
import { bytesOf, checkText, LONGEST_TEXT } from "../core/text.ts";
import { storedOptions } from "../core/unit-options.ts";
import type { SignalOptions } from "../core/workflow/signal-options.ts";
import type { SubmitOptions } from "../core/workflow/submit-options.ts";
import type { AnswerCall } from "../engine/worker/worker-options.ts";
import { inputOf } from "../executor/input.ts";
import type { OptionNames } from "./call-options.ts";
import { knownOptions, OF_ENQUEUING, OF_EXECUTE } from "./call-options.ts";
import { OF_SIGNAL } from "./signals.ts";

/** The verbs of a program that has the worker's app. */
interface Verbs {
  enqueue(task: string, input: never, options: EnqueueOptions): Promise<unknown>;
  submit(workflow: string, input: never, options: SubmitOptions): Promise<unknown>;
  signal(event: { readonly id: string } | string, payload: unknown, options: SignalOptions): Promise<unknown>;
  readonly runs: { get(id: string): Promise<unknown> };
}

/** The unit whose code asks. */
interface Asking {
  readonly id: string;
  readonly name: string;
  readonly options: string;
}

const ONCE: OptionNames<OncePerTask> = { key: true };
const OF_SUBMITTING: OptionNames<SubmitOptions> = { ...OF_EXECUTE, delay: true, runAt: true };

export const answersOf =
  (verbs: Verbs): AnswerCall =>
  (claim, call) =>
    answer(verbs, claim, call);

async function answer(verbs: Verbs, unit: Asking, call: ClientCall): Promise<unknown> {
  if (call.verb === "run") {
    const { step } = storedOptions(unit.options);
    return step && verbs.runs.get(step.run);
  }
  const input = inputOf(call.input) as never;
  if (call.verb === "enqueue") {
    const whose = `task "${call.task}"`;
    const options = knownOptions(whose, call.options, { ...OF_ENQUEUING, ...ONCE });
    return verbs.enqueue(call.task, input, once(whose, unit, options));
  }
  if (call.verb === "signal") {
    const whose = `event "${call.event}"`;
    const { key, ...options } = knownOptions(whose, call.options, OF_SIGNAL);
    return verbs.signal(call.named ? call.event : { id: call.event }, input, {
      ...options,
      ...(key === undefined ? {} : { key: ofTask(whose, unit, key) }),
    });
  }
  const whose = `workflow "${call.workflow}"`;
  const options = knownOptions(whose, call.options, { ...OF_SUBMITTING, ...ONCE });
  return verbs.submit(call.workflow, input, { source: `task ${unit.id}`, ...once(whose, unit, options) });
}

/** The caller does not see the ID of the task in front, so the longest key is told without it. */
function ofTask(whose: string, { id }: Asking, key: string): string {
  const before = `${id}/`;
  checkText(`${whose}: key`, key, LONGEST_TEXT - bytesOf(before));
  return `${before}${key}`;
}

/**
 * All attempts of a task share its ID, so a call with a key happens once per task. An attempt that was replaced
 * but still runs has that key, too.
 */
function once<Options extends { readonly idempotencyKey?: string }>(
  whose: string,
  unit: Asking,
  { key, ...options }: Options & OncePerTask,
): Options {
  if (key === undefined) return options as unknown as Options;
  if (options.idempotencyKey !== undefined)
    throw new SluiceError(
      "BAD_OPTIONS",
      `${whose}: give either key, which counts for this task only, or idempotencyKey, which counts for all.`,
    );
  return { ...options, idempotencyKey: ofTask(whose, unit, key) } as unknown as Options;
}
