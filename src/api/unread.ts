/** Holds changes between the feed and their reader, up to a bound. A reader that is slower lets the feed wait. */
import type { Hearing } from "../engine/feed/member.ts";
import type { Change } from "../store/store.ts";

/** The most changes held for a slow reader. The others stay in the store. */
const MOST_UNREAD = 10_000;
/** The feed goes on when the reader has read down to this. */
const FEW_UNREAD = MOST_UNREAD / 2;

export class Unread implements Hearing {
  readonly #goOn: () => void;
  #changes: Change[] = [];
  /** The reader has taken the changes before this index. */
  #taken = 0;
  #inHand: Change | undefined;
  #error: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** `goOn` is called when there is room again. */
  constructor(goOn: () => void) {
    this.#goOn = goOn;
  }

  /** The first change after which the reader has not asked for more. */
  get first(): Change | undefined {
    return this.#inHand ?? this.#changes[this.#taken];
  }

  get room(): number {
    return MOST_UNREAD - this.#count;
  }

  get #count(): number {
    return this.#changes.length - this.#taken;
  }

  hear(changes: readonly Change[]): void {
    if (this.#error) return;
    this.#changes.push(...changes);
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
    // Changes that were read must not pile up if there are always more.
    if (this.#taken === MOST_UNREAD) {
      this.#changes = this.#changes.slice(this.#taken);
      this.#taken = 0;
    }
    if (this.#count === FEW_UNREAD) this.#goOn();
    return change;
  }
}
