/**
 * The feed for programs: an iterable. It ends when its reader leaves or its signal is aborted, and throws if
 * something may have been missed. A reader that leaves may come back with a cursor, so its listener stays
 * recorded for `keep`, however the reader left.
 */
import { isOfLocks } from "../core/lock/request.ts";
import type { FeedFollower } from "../engine/feed/follower.ts";
import { followerOf } from "../engine/feed/followers.ts";
import type { Member } from "../engine/feed/member.ts";
import type { Cancel, Env } from "../env/env.ts";
import { onAbort, stayAlive } from "../env/timers.ts";
import type { Store } from "../store/store.ts";
import type { ChangeFilter } from "./change-filter.ts";
import { wishOf } from "./change-filter.ts";
import type { ChangeView } from "./change-view.ts";
import { changeViews } from "./change-view.ts";
import { Unread } from "./unread.ts";

export type { ChangeFilter, ChangeView };

/** One iteration over changes. It can be read once. */
export interface ChangeFeed extends AsyncIterable<ChangeView> {
  /**
   * Begins to listen now instead of with the first read, and resolves with the cursor of the beginning. Every
   * change committed after that is delivered.
   */
  begin(): Promise<string>;
  /**
   * Everything before this cursor has been read, or does not match the filter. It moves on while nothing
   * matches. A change counts as read when the reader asks for the next one. Undefined before the beginning.
   */
  readonly cursor: string | undefined;
}

export class Changes implements ChangeFeed {
  readonly #filter: ChangeFilter;
  readonly #follower: FeedFollower;
  readonly #unread = new Unread(() => {
    if (this.#member) this.#follower.goOn(this.#member);
  });
  #joining: Promise<Member> | undefined;
  #member: Member | undefined;
  /** Stops listening to the signal. */
  #letGo: Cancel = () => {};
  #reading: AsyncGenerator<ChangeView, void, undefined> | undefined;

  constructor(store: Store, env: Env, filter: ChangeFilter) {
    this.#filter = filter;
    this.#follower = followerOf(store, env);
  }

  get cursor(): string | undefined {
    const member = this.#member;
    return member && cursorAt(member, member.readUpTo);
  }

  async begin(): Promise<string> {
    const member = await this.#join();
    return cursorAt(member, member.since);
  }

  [Symbol.asyncIterator](): AsyncGenerator<ChangeView, void, undefined> {
    this.#reading ??= this.#changes();
    return this.#reading;
  }

  #join(): Promise<Member> {
    this.#joining ??= this.#joined();
    return this.#joining;
  }

  async #joined(): Promise<Member> {
    const { interest, from, keepMs } = wishOf(this.#filter);
    const { signal } = this.#filter;
    signal?.throwIfAborted();
    if (signal) this.#letGo = onAbort(signal, this.#stop);
    const joining = from
      ? this.#follower.resume(interest, from, this.#unread, keepMs)
      : this.#follower.join(interest, this.#unread, keepMs);
    const member = await joining.catch((error: unknown) => {
      this.#letGo();
      throw error;
    });
    this.#member = member;
    if (signal?.aborted) this.#follower.leave(member);
    return member;
  }

  readonly #stop = (): void => {
    this.#unread.lost(this.#filter.signal?.reason);
    if (this.#member) this.#follower.leave(this.#member);
  };

  async *#changes(): AsyncGenerator<ChangeView, void, undefined> {
    const member = await this.#join();
    const { kinds, signal } = this.#filter;
    const wanted = kinds && new Set(kinds);
    const letGo = stayAlive();
    try {
      for (;;) {
        const change = await this.#unread.next();
        // Requests for locks are not tasks.
        if (isOfLocks(change.queue)) continue;
        for (const view of changeViews(change, (position) => cursorAt(member, position)))
          if (!wanted || wanted.has(view.kind)) yield view;
      }
    } catch (error) {
      if (!signal?.aborted) throw error;
    } finally {
      this.#letGo();
      letGo();
      this.#follower.leave(member);
    }
  }
}

const cursorAt = ({ listener }: Member, position: number): string => `${listener}.${position}`;
