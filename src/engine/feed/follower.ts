/**
 * Serves all members that follow the feed in one process with one read per look, however many there are.
 * Members with the same interest share a listener. Members that arrive while others are being started are
 * started together afterwards.
 *
 * A member whose reader has no room is behind: it hears nothing until there is room again. Then it reads by
 * itself what it has not heard, and goes on with the others. If all members are behind, nothing is read.
 */
import type { SluiceError } from "../../core/error.ts";
import type { Env } from "../../env/env.ts";
import { turn } from "../../env/timers.ts";
import type { Change, FeedCursor, Interest, Page, Store } from "../../store/store.ts";
import { RENEW_MS } from "../../store/store.ts";
import { Loop } from "../loop.ts";
import type { Hearing } from "./member.ts";
import { expired, Member } from "./member.ts";
import { Pace } from "./pace.ts";

const A_PAGE = 1_000;

interface Joining {
  readonly member: Member;
  readonly begun: () => void;
  readonly failed: (error: unknown) => void;
}

export class FeedFollower {
  readonly #store: Store;
  readonly #env: Env;
  readonly #pace: Pace;
  readonly #loop: Loop;
  readonly #members = new Set<Member>();
  /** Shared listeners, by interest. */
  readonly #shared = new Map<string, string>();
  #joining: Joining[] = [];
  #isJoining = false;
  /** Members that are behind and read by themselves. */
  readonly #catchingUp = new Set<Member>();
  /** Everything up to this position was read for the members that are not behind. */
  #position: number | undefined;
  #renewAt = 0;
  #rest: (() => Promise<void>) | undefined;

  constructor(store: Store, env: Env) {
    this.#store = store;
    this.#env = env;
    this.#pace = new Pace(env, () => this.#loop.wake());
    this.#loop = new Loop(env, { pollMs: 1_000, jitterMs: 0, failed: (error) => this.#loseAll(error) }, () =>
      this.#look(),
    );
  }

  /**
   * Follows from now on: the member hears every change committed after this resolves. With `keepMs`, its
   * listener stays for that time after it has left.
   */
  async join(interest: Interest, hearing: Hearing, keepMs?: number): Promise<Member> {
    const member = new Member(interest, keepMs, hearing);
    await new Promise<void>((begun, failed) => {
      this.#joining.push({ member, begun, failed });
      if (!this.#isJoining) void this.#joinAll();
    });
    return member;
  }

  async #joinAll(): Promise<void> {
    this.#isJoining = true;
    for (let some = this.#joining; some.length > 0; some = this.#joining) {
      this.#joining = [];
      for (const { member } of some) this.#members.add(member);
      try {
        await this.#begin(some.map(({ member }) => member));
        for (const { begun } of some) begun();
      } catch (error) {
        for (const { member, failed } of some) {
          this.leave(member);
          failed(error);
        }
      }
    }
    this.#isJoining = false;
  }

  /**
   * A member that shares a listener begins at the last position read, so it may hear of changes from just
   * before it joined.
   */
  async #begin(members: readonly Member[]): Promise<void> {
    // If all are behind, the last position read may be old. A member that begins must not start there.
    const known = (member: Member): string | undefined =>
      this.#isRead ? this.#shared.get(keyOf(member)) : undefined;
    const fresh = members.filter((member) => known(member) === undefined);
    // From now on they share the listener, so a member that leaves meanwhile does not remove it.
    for (const member of members) member.listener = known(member) ?? "";
    const ids = new Map(fresh.map((member) => [keyOf(member), this.#env.newId()]));
    const listeners = [...new Map(fresh.map((member) => [keyOf(member), member]))].map(([key, member]) => ({
      ...member.interest,
      keepMs: member.keepMs,
      id: ids.get(key) as string,
    }));
    const start = listeners.length > 0 ? await this.#store.follow(listeners) : this.#position;
    if (start === undefined) throw expired("nobody follows it any more");
    // A listener whose members have all left meanwhile is not renewed, so no member may share it.
    for (const member of fresh)
      if (this.#members.has(member)) this.#shared.set(keyOf(member), ids.get(keyOf(member)) as string);
    const wasRead = this.#isRead;
    for (const member of members) {
      const id = ids.get(keyOf(member));
      member.begin(id ?? member.listener, id === undefined ? (this.#position ?? start) : start);
    }
    if (!wasRead && this.#position !== undefined)
      this.#position = Math.min(...members.map(({ since }) => since));
    await this.#run(start);
  }

  /**
   * Continues at a cursor. Before this resolves, the member has heard everything that came after the cursor, as
   * far as there was room.
   */
  async resume(interest: Interest, from: FeedCursor, hearing: Hearing, keepMs?: number): Promise<Member> {
    const member = new Member(interest, keepMs, hearing);
    const listener = { id: this.#env.newId(), keepMs: member.keepMs };
    const { id } = listener;
    let renewAt = this.#env.monotonic() + RENEW_MS;
    if (!(await this.#store.resume({ ...interest, ...listener }, from)))
      throw expired("the cursor is too old, or belongs to another filter");
    member.begin(id, from.position);
    for (;;) {
      const page = await this.#pageFor(member);
      if (!member.catchUp(page.changes)) break;
      if (!page.more && member.position >= (this.#position ?? 0)) break;
      await turn();
      if (this.#env.monotonic() < renewAt) continue;
      await this.#store.keepFollowing([listener], member.readUpTo);
      renewAt = this.#env.monotonic() + RENEW_MS;
    }
    const wasRead = this.#isRead;
    this.#members.add(member);
    if (!wasRead && member.isCurrent && this.#position !== undefined) this.#position = member.position;
    await this.#run(member.position);
    this.#renewAt = Math.min(this.#renewAt, renewAt);
    return member;
  }

  /** Its reader has room again. */
  goOn(member: Member): void {
    if (!member.isBehind || member.isOver || this.#catchingUp.has(member)) return;
    this.#catchingUp.add(member);
    this.#catchUp(member)
      .catch((error: unknown) => this.#lose(member, error))
      .finally(() => this.#catchingUp.delete(member));
  }

  /** If nobody else is read for, the common reads go on where this member is. */
  async #catchUp(member: Member): Promise<void> {
    while (this.#members.has(member)) {
      const position = this.#isRead ? (this.#position ?? member.position) : member.position;
      if (member.position >= position) {
        this.#position = position;
        member.goesOn();
        this.#loop.wake();
        return;
      }
      if (!member.catchUp((await this.#pageFor(member)).changes)) return;
      await turn();
    }
  }

  /** The next changes for this member alone. */
  async #pageFor(member: Member): Promise<Page> {
    const { listener, position } = member;
    const page = await this.#store.changes({ after: position, limit: A_PAGE, listeners: [listener] });
    if (!isWhole(page, position)) throw gone();
    if (!page.alive.has(listener)) throw forgotten();
    return page;
  }

  /** Somebody takes what is read for all. */
  get #isRead(): boolean {
    return [...this.#members].some(({ isCurrent }) => isCurrent);
  }

  /**
   * However a member leaves, a listener that a cursor may be resumed from stays until its keep time is over. So
   * an orderly stop loses no more than a crash.
   */
  leave(member: Member): void {
    member.leave();
    const { listener } = member;
    if (this.#members.delete(member) && listener !== "" && !this.#listeners().includes(listener)) {
      if (this.#shared.get(keyOf(member)) === listener) this.#shared.delete(keyOf(member));
      // The store forgets it anyway; this only makes it sooner.
      if (!member.isKept) void this.#store.unfollow([listener]).catch(() => {});
    }
    this.#stopWhenAlone();
  }

  /** Ends all members with this error. */
  close(error: unknown): void {
    this.#loseAll(error);
  }

  async #run(start: number): Promise<void> {
    // All members have left meanwhile.
    if (this.#members.size === 0) return;
    this.#pace.hasten();
    if (this.#rest) return this.#loop.wake();
    this.#position = start;
    this.#renewAt = this.#env.monotonic() + RENEW_MS;
    // If hints are not available, the poll finds new changes.
    const deaf = this.#store
      .listen((hint) => hint === "feed" && this.#pace.soon())
      .catch(() => async () => {});
    this.#rest = async () => {
      await Promise.all([this.#loop.stop(), deaf.then((stop) => stop())]);
    };
    void this.#loop.start();
  }

  #stopWhenAlone(): void {
    if (this.#members.size > 0 || !this.#rest) return;
    const rest = this.#rest;
    this.#rest = undefined;
    this.#position = undefined;
    this.#pace.stop();
    void rest().catch(() => {});
  }

  async #look(): Promise<number | undefined> {
    const after = this.#position;
    if (after === undefined) return undefined;
    await this.#renew();
    if (!this.#isRead) return undefined;
    const listeners = this.#listeners();
    const page = await this.#store.changes({ after, limit: A_PAGE, listeners });
    if (this.#position !== after) return 0;
    if (!isWhole(page, after)) return this.#loseThoseAt(after);
    this.#position = page.changes.at(-1)?.position ?? after;
    this.#forget(listeners.filter((id) => !page.alive.has(id)));
    this.#deliver(page.changes);
    return page.more ? 0 : this.#pace.next(page.changes.length > 0);
  }

  /** The next changes are gone. Members that have heard of later ones, or read by themselves, miss nothing. */
  #loseThoseAt(position: number): number {
    for (const member of [...this.#members])
      if (member.isCurrent && member.position <= position) this.#lose(member, gone());
    const others = [...this.#members].filter(({ isCurrent }) => isCurrent);
    if (others.length > 0) this.#position = Math.min(...others.map((member) => member.position));
    return 0;
  }

  #deliver(changes: readonly Change[]): void {
    for (const member of [...this.#members]) member.hear(changes);
  }

  async #renew(): Promise<void> {
    if (this.#env.monotonic() < this.#renewAt) return;
    const members = [...this.#members].filter(({ listener }) => listener !== "");
    const keeps = new Map(members.map(({ listener, keepMs }) => [listener, keepMs]));
    const renewals = [...keeps].map(([id, keepMs]) => ({ id, keepMs }));
    const read = members.filter(({ position }) => position >= 0).map(({ readUpTo }) => readUpTo);
    await this.#store.keepFollowing(renewals, Math.min(this.#position ?? 0, ...read));
    this.#renewAt = this.#env.monotonic() + RENEW_MS;
  }

  /** Changes read after a listener was forgotten are incomplete for the members that depend on it. */
  #forget(gone: readonly string[]): void {
    for (const member of [...this.#members])
      if (gone.includes(member.listener)) this.#lose(member, forgotten());
  }

  #loseAll(error: unknown): void {
    for (const member of [...this.#members]) this.#lose(member, error);
  }

  #lose(member: Member, error: unknown): void {
    member.lose(error);
    this.leave(member);
  }

  #listeners(): string[] {
    const known = [...this.#members].map(({ listener }) => listener).filter((id) => id !== "");
    return [...new Set(known)];
  }
}

const keyOf = ({ interest: { topics, run, task, queue }, keepMs, isKept }: Member): string =>
  JSON.stringify([topics, run, task, queue, keepMs, isKept]);

/** Positions are consecutive. A missing one must not go unnoticed. */
const isWhole = ({ lapsed, changes }: Page, after: number): boolean =>
  !lapsed && changes.every(({ position }, index) => position === after + 1 + index);

const gone = (): SluiceError => expired("the next changes are not kept any more");

const forgotten = (): SluiceError => expired("its listener was not renewed in time and is gone");
