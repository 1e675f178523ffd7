/**
 * What code is given beside its input. Code may take it apart, copy it or wrap it, so everything is a property of
 * its own. The two that most code never reads are made on first use. All contexts share the accessors of these two:
 * an object literal with accessors takes several times as long to make, and one is made for every task.
 */
import type { TaskClient, TaskContext } from "../../core/task/definition.ts";
import type { Job } from "../executor.ts";
import { clientOf } from "./client.ts";

/** What stands behind a context. Code does not see it. */
class Behind {
  readonly #job: Job;
  readonly #signal: AbortSignal | undefined;
  #client: TaskClient | undefined;
  isOver = false;

  constructor(job: Job, signal: AbortSignal | undefined) {
    this.#job = job;
    this.#signal = signal;
  }

  get signal(): AbortSignal {
    return this.#signal ?? this.#job.signal;
  }

  get client(): TaskClient {
    this.#client ??= clientOf(
      this.#job,
      () => this.signal,
      () => this.isOver,
    );
    return this.#client;
  }
}

const BEHIND = Symbol("behind");

interface Hiding {
  readonly [BEHIND]: Behind;
}

const LAZY = {
  signal: {
    enumerable: true,
    get(this: Hiding): AbortSignal {
      return this[BEHIND].signal;
    },
  },
  client: {
    enumerable: true,
    get(this: Hiding): TaskClient {
      return this[BEHIND].client;
    },
  },
};

interface OpenContext {
  readonly context: TaskContext;
  /** The code has ended. Its client starts nothing more. */
  end(): void;
}

/** `signal` is that of the job, if no other one is given. */
export function openContext(job: Job, signal?: AbortSignal): OpenContext {
  const { id, attempt, fence, step } = job;
  const behind = new Behind(job, signal);
  const context = {
    id,
    attempt,
    fence,
    run: step?.run,
    step: step?.name,
    progress: (value: unknown) => job.progress(value),
    log: (message: string, data?: unknown) => job.log(message, data),
  };
  Object.defineProperty(context, BEHIND, { value: behind });
  Object.defineProperty(context, "signal", LAZY.signal);
  Object.defineProperty(context, "client", LAZY.client);
  return {
    context: context as unknown as TaskContext,
    end: () => {
      behind.isOver = true;
    },
  };
}
