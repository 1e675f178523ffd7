/**
 * The feed for programs: an iterable. It ends when its reader leaves or its signal is aborted, and throws if
 * something may have been missed. Unread changes are kept here, up to a bound.
 */
import { SluiceError } from "../core/error.ts";
import type { Duration } from "../core/time.ts";
import { parseDuration } from "../core/time.ts";
import { followerOf } from "../engine/feed/followers.ts";
import type { Hearing, Member } from "../engine/feed/member.ts";
import { expired } from "../engine/feed/member.ts";
import type { Env } from "../env/env.ts";
import { stayAlive } from "../env/timers.ts";
import type { Change, FeedCursor, Interest, Store } from "../store/store.ts";
import type { ChangeView } from "./change-view.ts";
import { changeView, topicsOf } from "./change-view.ts";

export type { ChangeView };

export interface ChangeFilter {
  /** Resumes after this cursor. Use the same filter or a narrower one, and resume in time: see `keep`. */
  readonly after?: string;
  /** The ID of a run: its changes and those of everything in it. */
  readonly run?: string;
  /** The name of a task or a workflow. */
  readonly task?: string;
  readonly queue?: string;
  readonly kinds?: readonly string[];
  /** How long a cursor can be resumed after the last read. "30s" by default, "1h" at most. */
  readonly keep?: Duration;
  readonly signal?: AbortSignal;
}

/** The most changes kept for a slow reader. */
const MOST_UNREAD = 10_000;

export async function* changesOf(
  store: Store,
  env: Env,
  { after, kinds, keep, signal, ...where }: ChangeFilter,
): AsyncGenerator<ChangeView, void, undefined> {
  const { run = null, task = null, queue = null } = where;
  const interest: Interest = { topics: topicsOf(kinds), run, task, queue };
  const wanted = kinds && new Set(kinds);
  const from = after === undefined ? undefined : cursorOf(after);
  const keepMs = keep === undefined ? 0 : parseDuration(keep);
  const follower = followerOf(store, env);
  const unread = new Unread();
  signal?.throwIfAborted();
  const stop = (): void => unread.lost(signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  const member: Member = from
    ? await follower.resume(interest, from, unread, keepMs)
    : await follower.join(interest, unread, keepMs);
  const letGo = stayAlive();
  try {
    for (;;) {
      for (const change of await unread.next()) {
        const view = changeView(change, `${member.listener}.${change.position}`);
        if (!wanted || wanted.has(view.kind)) yield view;
      }
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    signal?.removeEventListener("abort", stop);
    letGo();
    // With `keep`, the listener stays for a reader that comes back.
    follower.leave(member, keep !== undefined);
  }
}

function cursorOf(text: string): FeedCursor {
  const [, listener, position] = /^([^.]+)\.(\d+)$/.exec(text) ?? [];
  if (listener !== undefined) return { listener, position: Number(position) };
  throw new SluiceError("BAD_CURSOR", `"${text}" is not a cursor of the feed. Use the cursor of a change.`);
}

/** Holds changes between the feed and their reader. */
class Unread implements Hearing {
  #changes: Change[] = [];
  #error: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  hear(changes: readonly Change[]): void {
    if (this.#error) return;
    if (this.#changes.length + changes.length > MOST_UNREAD)
      this.lost(expired(`more than ${MOST_UNREAD} changes were waiting to be read`));
    else this.#changes.push(...changes);
    this.#wake?.();
  }

  lost(error: unknown): void {
    this.#error ??= { error };
    this.#wake?.();
  }

  /** Changes that came before an error are delivered before it. */
  async next(): Promise<readonly Change[]> {
    for (;;) {
      const changes = this.#changes;
      this.#changes = [];
      if (changes.length > 0) return changes;
      if (this.#error) throw this.#error.error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
