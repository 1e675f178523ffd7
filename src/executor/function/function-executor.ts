/** Runs a task's function in this process. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { SluiceError } from "../../core/error.ts";
import { jsonText } from "../../core/json.ts";
import type { AnyTask } from "../../core/task/definition.ts";
import { sayIssues } from "../../core/task/issues.ts";
import { after, soon } from "../../env/timers.ts";
import type { Ending, Executor, Failed, Job } from "../executor.ts";
import { inputOf } from "../input.ts";
import { storedError } from "../stored-error.ts";
import { openContext } from "./context.ts";
import { thrownBy } from "./thrown.ts";

export class FunctionExecutor implements Executor {
  readonly #tasks: ReadonlyMap<string, AnyTask>;

  constructor(tasks: ReadonlyMap<string, AnyTask>) {
    this.#tasks = tasks;
  }

  async run(job: Job): Promise<Ending> {
    const task = this.#tasks.get(job.name);
    if (!task)
      return failed(
        new SluiceError("UNKNOWN_TASK", `No task "${job.name}" is defined in this worker's app.`),
        false,
      );
    let input: unknown;
    try {
      input = await parseInput(task, inputOf(job.input));
    } catch (error) {
      return failed(error, false);
    }
    return job.timeoutMs === null
      ? await call(task, input, job)
      : await callInTime(task, input, job, job.timeoutMs);
  }
}

/**
 * Gives the input as parsed by the task's schema. A violation is an error that no retry can fix. Without a schema
 * there is nothing to wait for.
 */
export function parseInput(task: AnyTask, value: unknown): unknown {
  return task.input ? parseWith(task.input, value, `task "${task.id}"`) : value;
}

export async function parseWith(schema: StandardSchemaV1, value: unknown, whose: string): Promise<unknown> {
  const parsed = await schema["~standard"].validate(value);
  if (!parsed.issues) return parsed.value;
  const issues = sayIssues(parsed.issues);
  throw new SluiceError("BAD_INPUT", `${whose}: the input does not match its schema: ${issues.join("; ")}`, {
    details: { issues },
  });
}

/** `signal` is that of the job, if no other one is given. */
async function call(task: AnyTask, input: unknown, job: Job, signal?: AbortSignal): Promise<Ending> {
  const { context, end } = openContext(job, signal);
  job.begins?.();
  try {
    const value: unknown = await task.run(input as never, context);
    return { ok: true, result: toJson(task.id, value) };
  } catch (error) {
    return await thrownBy(task, job, error);
  } finally {
    end();
  }
}

/**
 * At the timeout, the code is told to stop and the attempt ends. Code that ends right away, as it should, is
 * still awaited. Code in this process cannot be ended by force, so `stopping` resolves when the code has
 * ended.
 */
async function callInTime(task: AnyTask, input: unknown, job: Job, timeoutMs: number): Promise<Ending> {
  const timeout = new SluiceError(
    "TIMEOUT",
    `task "${task.id}" took longer than its timeout of ${timeoutMs}ms.`,
  );
  const abort = new AbortController();
  let cancel = (): void => {};
  const over = new Promise<undefined>((resolve) => {
    const end = (): void => {
      abort.abort(timeout);
      soon(() => resolve(undefined));
    };
    cancel = after(timeoutMs, end, { keepsAlive: true });
  });
  const either = AbortSignal.any([job.signal, abort.signal]);
  const ending = call(task, input, job, either);
  const first = await Promise.race([ending, over]);
  cancel();
  if (!first) return { ...failed(timeout, true), stopping: ending.then(() => {}) };
  return abort.signal.aborted && !first.ok ? failed(timeout, true) : first;
}

function toJson(task: string, value: unknown): string {
  try {
    return jsonText(value, "result") ?? "null";
  } catch (cause) {
    throw Object.assign(
      new SluiceError("RESULT_NOT_JSON", `task "${task}": ${(cause as Error).message}.`, { cause }),
      { retryable: false },
    );
  }
}

function failed(error: unknown, retryable: boolean): Failed {
  return { ok: false, error: storedError(error), retryable };
}
