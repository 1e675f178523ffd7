/** A task, as its author writes it. It is checked with its app, together with everything else. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Duration } from "../time.ts";
import type { RetryOptions } from "./retry.ts";

declare global {
  // Core is compiled without Node's and the browser's types. This merges with their AbortSignal, so core can name
  // it and users meet the real one.
  interface AbortSignal {
    readonly aborted: boolean;
  }
}

/** What a task's code is given beside its input. */
export interface TaskContext {
  /** The task's own id, the one that `enqueue` returned. */
  readonly id: string;
  /** Aborted when the lease is lost, on cancel and on timeout. */
  readonly signal: AbortSignal;
  /** Grows with every claim; pass it to outside systems, so that they can refuse a holder that was replaced. */
  readonly fence: number;
  /** 1 for the first. */
  readonly attempt: number;
  progress(value: unknown): void;
  log(message: string, data?: unknown): void;
}

/** Slots by pool; a pool with a limit per value is asked as "tenant=acme". */
export type PoolAsks = Readonly<Record<string, number>>;

/** `Input` is what callers enqueue, `Parsed` what the schema makes of it and `run` is given. */
export interface TaskDefinition<Input, Output, Parsed = Input> {
  readonly id: string;
  /** The queue it waits in; "default" unless said otherwise. */
  readonly queue?: string;
  /** Higher first, inside its queue; 0 unless said otherwise. */
  readonly priority?: number;
  readonly input?: StandardSchemaV1<Input, Parsed>;
  readonly pools?: PoolAsks | ((input: Parsed) => PoolAsks);
  readonly retry?: RetryOptions;
  /** How long one attempt may run. */
  readonly timeout?: Duration;
  /** How long after it was enqueued it may still start. */
  readonly goodUntil?: Duration;
  /** CPU-bound: as a step of a run it has a process of its own, where the executor has them. */
  readonly cpu?: boolean;
  run(input: Parsed, context: TaskContext): Promise<Output> | Output;
}

// biome-ignore lint/suspicious/noExplicitAny: a list of tasks has no common input; each is checked by its own schema.
export type AnyTask = TaskDefinition<any, any, any>;

export type InputOf<Task extends AnyTask> =
  Task extends TaskDefinition<infer Input, infer _O, infer _P> ? Input : never;
export type OutputOf<Task extends AnyTask> =
  Task extends TaskDefinition<infer _I, infer Output, infer _P> ? Output : never;

/** With a schema, the types come from it. */
export function task<Input, Output, Parsed>(
  definition: TaskDefinition<Input, Output, Parsed> & { readonly input: StandardSchemaV1<Input, Parsed> },
): TaskDefinition<Input, Output, Parsed>;
/** Without one, the input is what `run` says it takes; `void` when it takes nothing. */
export function task<Output, Input = void>(
  definition: TaskDefinition<Input, Output> & { readonly input?: never },
): TaskDefinition<Input, Output>;
export function task(definition: AnyTask): AnyTask {
  return Object.freeze({ ...definition });
}
