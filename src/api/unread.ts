/** Holds changes between the feed and their reader, up to a bound. */
import type { Hearing } from "../engine/feed/member.ts";
import { expired } from "../engine/feed/member.ts";
import type { Change } from "../store/store.ts";

/** The most changes kept for a slow reader. */
const MOST_UNREAD = 10_000;

export class Unread implements Hearing {
  #changes: Change[] = [];
  /** The reader has taken the changes before this index. */
  #taken = 0;
  #inHand: Change | undefined;
  #error: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** The first change after which the reader has not asked for more. */
  get first(): Change | undefined {
    return this.#inHand ?? this.#changes[this.#taken];
  }

  get #count(): number {
    return this.#changes.length - this.#taken;
  }

  hear(changes: readonly Change[]): void {
    if (this.#error) return;
    if (this.#count + changes.length > MOST_UNREAD)
      this.lost(expired(`more than ${MOST_UNREAD} changes were waiting to be read`));
    else this.#changes.push(...changes);
    this.#wake?.();
  }

  lost(error: unknown): void {
    this.#error ??= { error };
    this.#wake?.();
  }

  /** Changes that came before an error are delivered before it. */
  async next(): Promise<Change> {
    this.#inHand = undefined;
    for (;;) {
      const change = this.#changes[this.#taken];
      if (change) return this.#take(change);
      this.#changes = [];
      this.#taken = 0;
      if (this.#error) throw this.#error.error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(change: Change): Change {
    this.#taken += 1;
    this.#inHand = change;
    return change;
  }
}
