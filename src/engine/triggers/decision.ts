/** The input and the decision that all looks at triggers share. */
import type { RunTags } from "../../core/schedule/definition.ts";
import type { AppTrigger } from "../../core/schedule/trigger.ts";
import type { NewRun } from "../../store/runs.ts";
import type { NewTask, Store } from "../../store/store.ts";
import type { Firing, TriggerRow } from "../../store/triggers.ts";

interface RunOptions {
  readonly key: string;
  readonly tags: RunTags;
  /** The workflow's own priority if absent. */
  readonly priority: number | undefined;
  readonly source: string;
}

/** Creates a run of a workflow of this app. Throws if the run is not valid. */
export type ToRun = (workflow: string, input: unknown, options: RunOptions) => Promise<NewRun>;

/** The same for a task. */
export type ToTask = (
  task: string,
  input: unknown,
  options: Pick<RunOptions, "key" | "priority">,
) => Promise<NewTask>;

export interface Look {
  readonly store: Store;
  readonly toRun: ToRun;
  readonly toTask: ToTask;
  readonly row: TriggerRow;
  /** The store's time. */
  readonly now: number;
}

/** Undefined if there is nothing to write. */
export type TriggerDecision = Pick<Firing, "state" | "nextAt" | "submit" | "enqueue"> | undefined;

export const optionsOf = (trigger: AppTrigger, key: string): RunOptions => ({
  // Names begin with the kind, so this is "schedule:nightly:…".
  key: `${trigger.name.replace(" ", ":")}:${key}`,
  tags: trigger.tags,
  priority: trigger.priority ?? undefined,
  source: trigger.name,
});

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The trigger stays due. The error is recorded once, not with every look. */
export function stillDue({ row, now }: Look, error: unknown): TriggerDecision {
  const state = JSON.parse(row.state) as { readonly error?: { readonly message: string } };
  const message = messageOf(error);
  if (state.error?.message === message) return undefined;
  return { state: JSON.stringify({ ...state, error: { message, at: now } }), nextAt: row.nextAt, submit: [] };
}
