/**
 * `sluice step app.ts` runs the one step that its environment names, and reports how it ended in the last
 * line of its output. It runs in the pods of the Kubernetes executor, and has no access to a store.
 */
import type { Command } from "commander";
import { SluiceError } from "../../core/error.ts";
import type { Ending, Failed, Job } from "../../executor/executor.ts";
import { FunctionExecutor } from "../../executor/function/function-executor.ts";
import { sayEnded, sayLog, sayProgress } from "../../executor/kubernetes/report.ts";
import type { StepMessage } from "../../executor/kubernetes/step-message.ts";
import { readStep, STEP_VARIABLE } from "../../executor/kubernetes/step-message.ts";
import { storedError } from "../../executor/stored-error.ts";
import { endWith } from "./failure.ts";
import { loadApp } from "./load-app.ts";

/** The longest line that a log can hold without being cut somewhere on the way. */
const MOST_RESULT_CHARS = 1024 * 1024;

export function addStep(program: Command): void {
  program
    .command("step")
    .description(`run the one step that ${STEP_VARIABLE} names (for pods, not for people)`)
    .argument("[app]", "the app file (default: $SLUICE_APP, or app.ts)")
    .action((file?: string) => step(file ?? process.env.SLUICE_APP ?? "app.ts"));
}

async function step(file: string): Promise<void> {
  const message = readStep(process.env[STEP_VARIABLE]);
  const { fence } = message;
  process.on("uncaughtExceptionMonitor", (error) =>
    say(sayEnded(fence, { ok: false, error: storedError(error), retryable: true })),
  );
  const ending = await run(file, message);
  // Code that still runs here ends with this process, and so does the pod.
  say(sayEnded(fence, ending.ok ? ending : ended(ending)));
  // Code that left a timer or a connection open must not keep the pod alive.
  endWith(ending.ok ? 0 : 1);
}

async function run(file: string, message: StepMessage): Promise<Ending> {
  try {
    const { app } = await loadApp(file);
    return bounded(await new FunctionExecutor(app.tasks).run(jobOf(message)));
  } catch (error) {
    return { ok: false, error: storedError(error), retryable: true };
  }
}

function jobOf({ id, task, input, attempt, fence, timeoutMs, run, step }: StepMessage): Job {
  return {
    id,
    name: task,
    input,
    attempt,
    fence,
    timeoutMs,
    ...(run && step ? { step: { run, name: step } } : {}),
    signal: toldToStop(),
    progress: (value) => say(sayProgress(fence, value)),
    log: (text, data) => say(sayLog(fence, text, data)),
  };
}

/**
 * Kubernetes sends SIGTERM and waits for the pod's grace period. Code that ignores its signal is killed then.
 */
function toldToStop(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.once(signal, () =>
      controller.abort(new SluiceError("POD_STOPPED", `The pod was told to stop (${signal}).`)),
    );
  return controller.signal;
}

function bounded(ending: Ending): Ending {
  if (!ending.ok || ending.result.length <= MOST_RESULT_CHARS) return ending;
  const message = `The result of a step in a pod may have ${MOST_RESULT_CHARS} characters; this one has ${ending.result.length}. Store it elsewhere and return a reference to it.`;
  return { ok: false, error: storedError(new SluiceError("RESULT_TOO_LARGE", message)), retryable: false };
}

const ended = ({ stopping: _, ...failed }: Failed): Failed => failed;

/** Starts a new line, even if the code has left one open. */
function say(line: string): void {
  process.stdout.write(`\n${line}\n`);
}
