/**
 * Waits for tasks and runs to end; the work may be done in another process. All waiters of one process share
 * their reads: one when they arrive, and then one whenever the feed reports ends. So a thousand waiters cost
 * as much as one.
 */
import { TOPIC } from "../core/change.ts";
import { checkId } from "../core/text.ts";
import type { FeedFollower } from "../engine/feed/follower.ts";
import { followerOf } from "../engine/feed/followers.ts";
import type { Member } from "../engine/feed/member.ts";
import type { Cancel, Env } from "../env/env.ts";
import { hostEnv } from "../env/host.ts";
import { onAbort, stayAlive, turn } from "../env/timers.ts";
import { isDataError } from "../store/data-error.ts";
import { isFinal } from "../store/final.ts";
import type { Change, Store, TaskRow } from "../store/store.ts";

interface Waiting {
  readonly id: string;
  readonly ended: (row: TaskRow | undefined) => void;
  readonly failed: (error: unknown) => void;
}

const AT_ONCE = 1_000;
/** From this many names on, it is cheaper to hear of every end. */
const MOST_NAMES = 16;
const ANY = "";
/**
 * The feed is kept for a while, so that waiting for one task after another does not start from scratch each
 * time.
 */
const LINGER_MS = 5_000;

const endings = new WeakMap<Store, Endings>();

/** Returns the unit once it has ended, or undefined if there is no such unit. */
export async function untilEnded(
  store: Store,
  id: string,
  signal?: AbortSignal,
  env: Env = hostEnv(),
): Promise<TaskRow | undefined> {
  checkId(id);
  signal?.throwIfAborted();
  const known = endings.get(store) ?? new Endings(store, env);
  endings.set(store, known);
  return known.until(id, signal);
}

function halves<T>(all: readonly T[]): [readonly T[], readonly T[]] {
  const half = Math.ceil(all.length / 2);
  return [all.slice(0, half), all.slice(half)];
}

class Endings {
  readonly #store: Store;
  readonly #env: Env;
  readonly #follower: FeedFollower;
  readonly #waiting = new Map<string, Set<Waiting>>();
  /** The names of tasks whose ends the feed reports, each with its membership in the feed. */
  readonly #heard = new Map<string, Promise<Member>>();
  /** The name under which the end of each unit is heard. */
  readonly #nameOf = new Map<string, string>();
  /** Units to read next: they have a new waiter, or they have just ended. */
  #unread = new Set<string>();
  #isReading = false;
  #letGo: Cancel | undefined;

  constructor(store: Store, env: Env) {
    this.#store = store;
    this.#env = env;
    this.#follower = followerOf(store, env);
  }

  until(id: string, signal: AbortSignal | undefined): Promise<TaskRow | undefined> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#remove(waiting);
        letGo();
      };
      const waiting: Waiting = {
        id,
        ended: (row) => {
          leave();
          resolve(row);
        },
        failed: (error) => {
          leave();
          reject(error);
        },
      };
      const letGo = signal ? onAbort(signal, () => waiting.failed(signal.reason)) : () => {};
      const all = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, all.add(waiting));
      this.#letGo ??= stayAlive();
      this.#read([id]);
    });
  }

  /** Units that arrive in the same turn are read together. */
  #read(ids: Iterable<string>): void {
    for (const id of ids) this.#unread.add(id);
    if (this.#isReading || this.#unread.size === 0) return;
    this.#isReading = true;
    void this.#readSome().finally(() => {
      this.#isReading = false;
      this.#read([]);
    });
  }

  async #readSome(): Promise<void> {
    await turn();
    const all = [...this.#unread].filter((id) => this.#waiting.has(id));
    const ids = all.slice(0, AT_ONCE);
    this.#unread = new Set(all.slice(AT_ONCE));
    if (ids.length > 0) await this.#readThese(ids);
  }

  async #readThese(ids: readonly string[]): Promise<void> {
    try {
      const open = this.#settle(ids, await this.#store.tasksById(ids));
      // The feed does not report ends from before its name was followed, so these units are read again.
      this.#read(await this.#hear(open));
    } catch (error) {
      // A unit that cannot be read fails alone.
      if (isDataError(error) && ids.length > 1) for (const half of halves(ids)) await this.#readThese(half);
      else for (const id of ids) for (const waiting of this.#all(id)) waiting.failed(error);
    }
  }

  /** Resolves the waiters of units that have ended, and returns the units that have not. */
  #settle(ids: readonly string[], rows: readonly TaskRow[]): TaskRow[] {
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.flatMap((id) => {
      const row = found.get(id);
      if (row && !isFinal(row.state)) return this.#waiting.has(id) ? [row] : [];
      for (const waiting of this.#all(id)) waiting.ended(row);
      return [];
    });
  }

  /** Starts to follow the names of these units. Returns the units whose ends were not reported until now. */
  async #hear(rows: readonly TaskRow[]): Promise<string[]> {
    const fresh = new Set<string>();
    const unheard = rows.filter(({ id, name }) => {
      const known = [name, ANY].find((one) => this.#heard.has(one));
      const isRoom = fresh.has(name) || this.#heard.size + fresh.size < MOST_NAMES;
      const under = known ?? (isRoom ? name : ANY);
      this.#nameOf.set(id, under);
      if (known === undefined) fresh.add(under);
      return known === undefined;
    });
    for (const name of fresh) this.#heard.set(name, this.#join(name));
    await Promise.all(rows.map(({ id }) => this.#heard.get(this.#nameOf.get(id) ?? ANY)));
    return unheard.map(({ id }) => id);
  }

  async #join(name: string): Promise<Member> {
    const interest = { topics: TOPIC.ended, run: null, task: name === ANY ? null : name, queue: null };
    const hearing = {
      hear: (changes: readonly Change[]) =>
        this.#read(changes.map(({ subject }) => subject).filter((id) => this.#waiting.has(id))),
      // The end of a unit may have been missed, so all units of this name are read again. Then `#hear`
      // follows the name again. The waiters get an error if the store is away.
      lost: () => {
        this.#heard.delete(name);
        this.#read([...this.#nameOf].filter(([, other]) => other === name).map(([id]) => id));
      },
    };
    try {
      return await this.#follower.join(interest, hearing);
    } catch (error) {
      this.#heard.delete(name);
      throw error;
    }
  }

  #all(id: string): Waiting[] {
    return [...(this.#waiting.get(id) ?? [])];
  }

  #remove(waiting: Waiting): void {
    const all = this.#waiting.get(waiting.id);
    all?.delete(waiting);
    if (!all || all.size > 0) return;
    this.#waiting.delete(waiting.id);
    this.#nameOf.delete(waiting.id);
    if (this.#waiting.size > 0) return;
    this.#letGo?.();
    this.#letGo = undefined;
    this.#env.after(LINGER_MS, () => this.#leave());
  }

  /** Leaves the feed if there is no waiter any more. */
  #leave(): void {
    if (this.#waiting.size > 0) return;
    for (const member of this.#heard.values())
      member.then(
        (joined) => this.#follower.leave(joined),
        () => {},
      );
    this.#heard.clear();
  }
}
