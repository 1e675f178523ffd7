/** What a caller may say when it submits a run. */
import type { Duration } from "../time.ts";

export interface SubmitOptions {
  /** Higher goes first in the line of runs. */
  readonly priority?: number;
  /** Added to the workflow's own tags. The same key replaces the workflow's value. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Names its locks. The default is that of the workflow, then that of the app, then "default". */
  readonly namespace?: string;
  readonly delay?: Duration;
  readonly runAt?: Date;
  /** A second submission of the same workflow with the same key returns the first run. */
  readonly idempotencyKey?: string;
  /** The submitter, shown with the run. */
  readonly source?: string;
}
