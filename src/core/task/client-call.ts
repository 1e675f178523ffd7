/**
 * What a task's code asks of the store of its worker, as plain data: it may cross the border of a process.
 * An input is JSON text, empty if there is none.
 */
import type { SignalOptions } from "../workflow/signal-options.ts";
import type { SubmitOptions } from "../workflow/submit-options.ts";
import type { EnqueueOptions } from "./enqueue-options.ts";

/**
 * Makes a call happen once for this task, however many attempts it takes: the second call with the same key
 * gets the answer of the first.
 */
export interface OncePerTask {
  readonly key?: string;
}

export type ClientCall =
  | {
      readonly verb: "enqueue";
      readonly task: string;
      readonly input: string;
      readonly options: EnqueueOptions & OncePerTask;
    }
  | {
      readonly verb: "submit";
      readonly workflow: string;
      readonly input: string;
      readonly options: SubmitOptions & OncePerTask;
    }
  | {
      readonly verb: "signal";
      readonly event: string;
      /** The event was given by its ID alone, so the app must know it. */
      readonly named: boolean;
      /** JSON text, empty if there is none. */
      readonly input: string;
      readonly options: SignalOptions;
    }
  | { readonly verb: "run" };

/** The task's own run, as far as its code may rely on it. */
export interface OwnRun {
  readonly id: string;
  readonly workflow: string;
  readonly state: string;
  readonly paused: boolean;
  readonly tags: Readonly<Record<string, string>>;
  readonly source: string;
  readonly input: unknown;
  readonly steps: readonly OwnStep[];
}

interface OwnStep {
  readonly name: string;
  readonly task: string | null;
  readonly state: string;
  readonly result?: unknown;
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string };
}
