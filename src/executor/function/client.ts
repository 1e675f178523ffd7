/** The client in a task's context. It hands each call on to the worker, which has the store. */
import { SluiceError } from "../../core/error.ts";
import type { ClientCall, OwnRun } from "../../core/task/client-call.ts";
import type { TaskClient } from "../../core/task/definition.ts";
import type { SignalSent } from "../../core/workflow/signal-options.ts";
import type { Job } from "../executor.ts";
import { inputText } from "../input.ts";

interface Created {
  readonly id: string;
  readonly created: boolean;
}

/**
 * Code that was told to stop starts nothing more: its task may already run elsewhere. Nor does code that has ended:
 * what became of the task is settled. A call that was made in time is answered, even if the code ends before that.
 */
export function clientOf(job: Job, signal: () => AbortSignal, isOver: () => boolean): TaskClient {
  const ask = async (call: ClientCall): Promise<unknown> => {
    if (isOver()) throw taskEnded(job.name);
    signal().throwIfAborted();
    if (!job.call) throw noClient(job.name);
    return job.call(call);
  };
  return Object.freeze<TaskClient>({
    enqueue: async (task, input, options = {}) => {
      const name = typeof task === "string" ? task : task.id;
      const text = textOf(`task "${name}"`, input);
      return (await ask({ verb: "enqueue", task: name, input: text, options })) as Created;
    },
    submit: async (workflow, input, options = {}) => {
      const name = typeof workflow === "string" ? workflow : workflow.id;
      const text = textOf(`workflow "${name}"`, input);
      return (await ask({ verb: "submit", workflow: name, input: text, options })) as Created;
    },
    signal: async (event, payload, options = {}) => {
      const named = typeof event === "string";
      const name = named ? event : event.id;
      const text = textOf(`event "${name}"`, payload);
      return (await ask({ verb: "signal", event: name, named, input: text, options })) as SignalSent;
    },
    run: async () => (await ask({ verb: "run" })) as OwnRun | undefined,
  });
}

function textOf(whose: string, input: unknown): string {
  try {
    return inputText(input);
  } catch (cause) {
    throw new SluiceError("BAD_INPUT", `${whose}: ${(cause as Error).message}.`, { cause });
  }
}

const taskEnded = (task: string): SluiceError =>
  new SluiceError(
    "TASK_ENDED",
    `task "${task}" has called its client after its code had ended. Nothing was started. Await every call before the code returns.`,
  );

const noClient = (task: string): SluiceError =>
  new SluiceError(
    "NO_CLIENT",
    `task "${task}" runs where there is no way to the store of its worker, as in a pod. Return what is to be done, and let a step after this one do it.`,
  );
