/** One member that follows the feed in this process. */
import { SluiceError } from "../../core/error.ts";
import { keepFor, wants } from "../../store/feed.ts";
import type { Change, Interest } from "../../store/store.ts";

export interface Hearing {
  /** The first change that its reader has not finished with. Without it, the reader reads at once. */
  readonly first?: Change | undefined;
  /** How many changes it can take now. Without it, there is no bound. */
  readonly room?: number;
  /** Some changes, in order, and never more than there is room for. */
  hear(changes: readonly Change[]): void;
  /** The member has ended: it may have missed something, or the store is away. */
  lost(error: unknown): void;
}

export class Member {
  readonly interest: Interest;
  readonly keepMs: number;
  /** Its listener stays for `keepMs` when it leaves, because its reader may resume from a cursor. */
  readonly isKept: boolean;
  readonly #hearing: Hearing;
  /** Changes that came before its start position was known. */
  #early: Change[] | undefined = [];
  #position = -1;
  #since = -1;
  #isOver = false;
  #isBehind = false;
  /** The listener that records changes for it. */
  listener = "";

  /** Without `keepMs`, no reader resumes from a cursor. */
  constructor(interest: Interest, keepMs: number | undefined, hearing: Hearing) {
    this.interest = interest;
    this.keepMs = keepFor(keepMs ?? 0);
    this.isKept = keepMs !== undefined;
    this.#hearing = hearing;
  }

  /** The member has heard everything it wants up to this position. */
  get position(): number {
    return this.#position;
  }

  /** Its reader has finished with everything it wants up to this position. */
  get readUpTo(): number {
    const { first } = this.#hearing;
    return first ? first.position - 1 : this.#position;
  }

  /** The position where it began. */
  get since(): number {
    return this.#since;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** It had no room for everything that was read. It takes nothing until it has caught up. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** It has begun, and hears what is read for all. */
  get isCurrent(): boolean {
    return this.#since >= 0 && !this.#isBehind && !this.#isOver;
  }

  begin(listener: string, position: number): void {
    this.listener = listener;
    this.#position = position;
    this.#since = position;
    const early = this.#early ?? [];
    this.#early = undefined;
    this.hear(early);
  }

  hear(changes: readonly Change[]): void {
    if (this.#isOver || this.#isBehind) return;
    if (this.#early) this.#early.push(...changes);
    else this.#take(changes);
  }

  /** Takes changes that were read for it alone. False if it had no room for all of them. */
  catchUp(changes: readonly Change[]): boolean {
    return this.#isOver || this.#take(changes);
  }

  /** It has caught up. */
  goesOn(): void {
    this.#isBehind = false;
  }

  /** It is behind if it has no room for all of them. It takes the others later, from the store. */
  #take(changes: readonly Change[]): boolean {
    const fresh = changes.filter(({ position }) => position > this.#position);
    const wanted = fresh.filter((change) => wants(this.interest, change));
    const room = this.#hearing.room ?? wanted.length;
    const next = wanted[room];
    this.#position = next ? next.position - 1 : (fresh.at(-1)?.position ?? this.#position);
    if (next) this.#isBehind = true;
    if (wanted.length > 0 && room > 0) this.#hearing.hear(next ? wanted.slice(0, room) : wanted);
    return !next;
  }

  lose(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#hearing.lost(error);
  }

  /** It hears nothing from now on. */
  leave(): void {
    this.#isOver = true;
  }
}

export const expired = (why: string): SluiceError =>
  new SluiceError(
    "FEED_EXPIRED",
    `The feed cannot go on from here: ${why}. Start again from now, without a cursor, and read afresh what you show.`,
  );
