/**
 * The filter of a reader of the feed. It is checked before the listener begins: a misspelt filter would
 * deliver every change, and a `keep` that is cut short would lose a cursor that the reader relies on.
 */
import { SluiceError } from "../core/error.ts";
import { checkText, shortly } from "../core/text.ts";
import type { Duration } from "../core/time.ts";
import { formatDuration, parseDuration } from "../core/time.ts";
import { checkCursor } from "../store/feed.ts";
import type { FeedCursor, Interest } from "../store/store.ts";
import { MOST_KEEP_MS } from "../store/store.ts";
import type { OptionNames } from "./call-options.ts";
import { checkList, checkSignal, knownOptions } from "./call-options.ts";
import { topicsOf } from "./change-view.ts";

export interface ChangeFilter {
  /** Resumes after this cursor. Use the same filter or a narrower one, and resume in time: see `keep`. */
  readonly after?: string;
  /** The ID of a run: its changes and those of everything in it. */
  readonly run?: string;
  /** The name of a task or a workflow. */
  readonly task?: string;
  readonly queue?: string;
  readonly kinds?: readonly string[];
  /** How long a cursor can be resumed after the last read. "30s" by default and at least, "1h" at most. */
  readonly keep?: Duration;
  readonly signal?: AbortSignal;
}

const FIELDS: OptionNames<ChangeFilter> = {
  after: true,
  run: true,
  task: true,
  queue: true,
  kinds: true,
  keep: true,
  signal: true,
};

/** A filter as the engine takes it. */
interface Wish {
  readonly interest: Interest;
  readonly from: FeedCursor | undefined;
  readonly keepMs: number;
}

export function wishOf(filter: ChangeFilter): Wish {
  const { after, run, task, queue, kinds, keep, signal } = knownOptions("changes", filter, FIELDS);
  checkSignal("changes", signal);
  if (kinds !== undefined) checkList("changes: kinds", kinds);
  for (const [name, text] of Object.entries({ run, task, queue }))
    if (text !== undefined) checkText(`changes: ${name}`, text);
  return {
    interest: { topics: topicsOf(kinds), run: run ?? null, task: task ?? null, queue: queue ?? null },
    from: after === undefined ? undefined : cursorOf(after),
    keepMs: keep === undefined ? 0 : keepOf(keep),
  };
}

function keepOf(keep: Duration): number {
  const ms = parseDuration(keep);
  if (ms > 0 && ms <= MOST_KEEP_MS) return ms;
  throw new SluiceError(
    "BAD_OPTIONS",
    `changes: keep must be longer than 0s and at most ${formatDuration(MOST_KEEP_MS)}, but is "${keep}".`,
  );
}

function cursorOf(text: unknown): FeedCursor {
  const [, listener, position] = (typeof text === "string" && /^([^.]+)\.(\d+)$/.exec(text)) || [];
  if (listener === undefined)
    throw new SluiceError(
      "BAD_CURSOR",
      `${shortly(text)} is not a cursor of the feed. Use the cursor of a change.`,
    );
  const cursor = { listener, position: Number(position) };
  checkCursor(cursor);
  return cursor;
}
