/** A task as users and programs see it, with its JSON parsed. */
import { shownName } from "../core/lock/request.ts";
import { storedOptions } from "../core/unit-options.ts";
import type { StoredError } from "../executor/executor.ts";
import { inputOf } from "../executor/input.ts";
import { asksOf, isAsks } from "../store/lane.ts";
import type { TaskRow, TaskState } from "../store/store.ts";
import { endOf } from "./end-of.ts";
import { readable } from "./readable.ts";

export interface TaskView<Output = unknown> {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly state: TaskState;
  readonly priority: number;
  readonly attempt: number;
  readonly losses: number;
  readonly input: unknown;
  readonly result?: Output;
  readonly error?: StoredError;
  readonly progress?: unknown;
  readonly asks: readonly { readonly gate: string; readonly slots: number }[];
  readonly idempotencyKey: string | null;
  readonly session: string | null;
  /** Its run and the name of its step, if it is a step of a run. */
  readonly step?: { readonly run: string; readonly name: string };
  readonly createdAt: number;
  /** When it entered this state. For a delayed task, when it is due. */
  readonly at: number;
  readonly goodUntil: number | null;
}

export function taskView<Output>(row: TaskRow): TaskView<Output> {
  const { id, name, queue, state, priority, attempt, losses, session, createdAt, since: at, goodUntil } = row;
  const { step } = storedOptions(row.options);
  return {
    id,
    name: shownName(name),
    queue,
    state,
    priority,
    attempt,
    losses,
    input: readable(row.input, inputOf),
    asks: isAsks(row.asks) ? asksOf(row.asks) : [],
    idempotencyKey: row.key,
    session,
    ...(step ? { step } : {}),
    createdAt,
    at,
    goodUntil,
    ...endOf<Output>(state, row.body),
    ...(row.progress === null ? {} : { progress: readable(row.progress) }),
  };
}
