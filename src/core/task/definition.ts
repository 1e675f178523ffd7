/** A task as its author writes it. It is checked together with its app. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { LockAsks } from "../gate/lock.ts";
import type { Duration } from "../time.ts";
import type { Carrying, Taking } from "../workflow/carried.ts";
import type { SignalOptions, SignalSent } from "../workflow/signal-options.ts";
import type { SubmitOptions } from "../workflow/submit-options.ts";
import type { AsJson } from "../workflow/wired.ts";
import type { OncePerTask, OwnRun } from "./client-call.ts";
import type { EnqueueOptions } from "./enqueue-options.ts";
import type { Failure } from "./failure.ts";
import type { RetryOptions } from "./retry.ts";

declare global {
  // Core is compiled without the types of Node and the browser. This merges with their AbortSignal, so core
  // can name it and users get the real one.
  interface AbortSignal {
    readonly aborted: boolean;
  }
}

/** Passed to a task's code along with its input. */
export interface TaskContext {
  /** The task's ID, as returned by `enqueue`. */
  readonly id: string;
  /** Aborted when the lease is lost, on cancel and on timeout. */
  readonly signal: AbortSignal;
  /**
   * Grows with every claim. Pass it to outside systems, so that they can refuse a holder that was replaced.
   */
  readonly fence: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The run that this task is a step of, and the name of the step. Undefined outside of runs. */
  readonly run?: string | undefined;
  readonly step?: string | undefined;
  /** Reaches the store of the worker, also from a child process, but not from a pod. */
  readonly client: TaskClient;
  progress(value: unknown): void;
  log(message: string, data?: unknown): void;
}

/** The verbs of a task's own client. They are refused once its signal is aborted. */
export interface TaskClient {
  /** Puts a task of the same app in line. */
  enqueue<Task extends AnyTask>(
    task: Task | string,
    input: InputOf<Task>,
    options?: EnqueueOptions & OncePerTask,
  ): Promise<{ id: string; created: boolean }>;
  /** Puts a run of a workflow of the same app in line. */
  submit<Input>(
    workflow: (Carrying<Input, unknown> & { readonly id: string }) | string,
    input: Input,
    options?: SubmitOptions & OncePerTask,
  ): Promise<{ id: string; created: boolean }>;
  /** Sends a signal of an event. A `key` counts for this task only, so the signal is sent once for all attempts. */
  signal<Input>(
    event: (Carrying<Input, unknown> & { readonly id: string }) | string,
    payload: Input,
    options?: SignalOptions,
  ): Promise<SignalSent>;
  /** The run that this task is a step of. */
  run(): Promise<OwnRun | undefined>;
}

/** Slots by pool. A pool with a limit per value is named like "tenant=acme". */
export type PoolAsks = Readonly<Record<string, number>>;

/** `Input` is what callers enqueue. `Parsed` is what the schema makes of it, and what `run` gets. */
export interface TaskDefinition<Input, Output, Parsed = Input> extends Taking<Input> {
  readonly id: string;
  /** The queue it waits in. The default is "default". */
  readonly queue?: string;
  /** Higher priorities go first within a queue. The default is 0. */
  readonly priority?: number;
  readonly input?: StandardSchemaV1<Input, Parsed>;
  readonly pools?: PoolAsks | ((input: Parsed) => PoolAsks);
  /** Held by each attempt. A function gets the input. */
  readonly mutexes?: LockAsks["mutexes"] | ((input: Parsed) => LockAsks["mutexes"]);
  readonly semaphores?: LockAsks["semaphores"] | ((input: Parsed) => LockAsks["semaphores"]);
  readonly retry?: RetryOptions;
  /** How long one attempt may run. */
  readonly timeout?: Duration;
  /** How long after its enqueue it may still start. */
  readonly goodUntil?: Duration;
  /** CPU-bound. As a step of a run it gets a process of its own, if the executor has processes. */
  readonly cpu?: boolean;
  /**
   * A task of the same app. It is put in line with what failed, in the transaction that records the failure.
   */
  readonly onFailure?: FailureHandler<NoInfer<Input>>;
  run(input: Parsed, context: TaskContext): Promise<Output> | Output;
}

/** A task that handles failures of what has this input. What its own schema makes of a failure is its own affair. */
// biome-ignore lint/suspicious/noExplicitAny: without a type, of whatever has failed.
export type FailureHandler<Input = any> = AnyTask & Taking<Failure<AsJson<Input>>>;

// biome-ignore lint/suspicious/noExplicitAny: a list of tasks has no common input; each is checked by its own schema.
export type AnyTask = TaskDefinition<any, any, any>;

export type InputOf<Task extends AnyTask> =
  Task extends TaskDefinition<infer Input, infer _O, infer _P> ? Input : never;
export type OutputOf<Task extends AnyTask> =
  Task extends TaskDefinition<infer _I, infer Output, infer _P> ? Output : never;

/** With a schema, the types come from the schema. */
export function task<Input, Output, Parsed>(
  definition: TaskDefinition<Input, Output, Parsed> & { readonly input: StandardSchemaV1<Input, Parsed> },
): TaskDefinition<Input, Output, Parsed>;
/** Without a schema, the input type is that of `run`'s parameter, or `void` if it takes none. */
export function task<Output, Input = void>(
  definition: TaskDefinition<Input, Output> & { readonly input?: never },
): TaskDefinition<Input, Output>;
export function task(definition: AnyTask): AnyTask {
  return Object.freeze({ ...definition });
}
