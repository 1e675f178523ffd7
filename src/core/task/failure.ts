/**
 * What a task or a run failed with, as the task that handles the failure gets it. A cancel and an expiry are
 * no failures: an operator or a deadline has asked for them.
 */

export interface FailureError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: FailureError;
  /** Of a run: the steps that did not succeed. */
  readonly steps?: readonly string[];
}

/** The input of a task that is named in `onFailure`. */
export interface Failure<Input = unknown> {
  readonly kind: "task" | "workflow";
  /** The id of the task or workflow in its app. */
  readonly name: string;
  /** The id of the task or run in the store. */
  readonly id: string;
  readonly input: Input;
  /** `quarantined`: it has lost its process or its worker three times. */
  readonly state: "failed" | "quarantined";
  /** The number of the last attempt. */
  readonly attempt: number;
  readonly error: FailureError;
  /** Of a step: its run and its name there. */
  readonly run?: string;
  readonly step?: string;
}
