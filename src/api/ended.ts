/**
 * Waiting for tasks and runs to end: whoever waits need not be where the work is done. All who wait in one process are
 * read together, once when they come. From then on the feed tells who has ended, and those are read together, too. So a
 * thousand who wait cost what one does.
 */
import { TOPIC } from "../core/change.ts";
import type { FeedFollower } from "../engine/feed/follower.ts";
import { followerOf } from "../engine/feed/followers.ts";
import type { Member } from "../engine/feed/member.ts";
import type { Cancel, Env } from "../env/env.ts";
import { hostEnv } from "../env/host.ts";
import { stayAlive, turn } from "../env/timers.ts";
import { isFinal } from "../store/final.ts";
import type { Change, Store, TaskRow } from "../store/store.ts";

interface Waiting {
  readonly id: string;
  readonly ended: (row: TaskRow | undefined) => void;
  readonly failed: (error: unknown) => void;
}

const AT_ONCE = 1_000;
/** With so many names it is cheaper to hear of every end. */
const MOST_NAMES = 16;
const ANY = "";
/** Whoever waits for one task after the other need not begin anew each time. */
const LINGER_MS = 5_000;

const endings = new WeakMap<Store, Endings>();

/** The unit once it has ended; undefined when there is none. */
export async function untilEnded(
  store: Store,
  id: string,
  signal?: AbortSignal,
  env: Env = hostEnv(),
): Promise<TaskRow | undefined> {
  signal?.throwIfAborted();
  const known = endings.get(store) ?? new Endings(store, env);
  endings.set(store, known);
  return known.until(id, signal);
}

class Endings {
  readonly #store: Store;
  readonly #env: Env;
  readonly #follower: FeedFollower;
  readonly #waiting = new Map<string, Set<Waiting>>();
  /** Names of tasks whose ends are heard, and by whom. */
  readonly #heard = new Map<string, Promise<Member>>();
  /** The name under which the end of a unit is heard. */
  readonly #nameOf = new Map<string, string>();
  /** Units to read: those that somebody has just come for, or that have just ended. */
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
        signal?.removeEventListener("abort", aborted);
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
      const aborted = (): void => waiting.failed(signal?.reason);
      signal?.addEventListener("abort", aborted, { once: true });
      const all = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, all.add(waiting));
      this.#letGo ??= stayAlive();
      this.#read([id]);
    });
  }

  /** Everybody who comes in the same turn is read at once. */
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
    if (ids.length === 0) return;
    try {
      const open = this.#settle(ids, await this.#store.tasksById(ids));
      // What ended before its name was heard of is told by nobody.
      this.#read(await this.#hear(open));
    } catch (error) {
      for (const id of ids) for (const waiting of this.#all(id)) waiting.failed(error);
    }
  }

  /** Tells those who have their answer; the units that go on are answered. */
  #settle(ids: readonly string[], rows: readonly TaskRow[]): TaskRow[] {
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.flatMap((id) => {
      const row = found.get(id);
      if (row && !isFinal(row.state)) return this.#waiting.has(id) ? [row] : [];
      for (const waiting of this.#all(id)) waiting.ended(row);
      return [];
    });
  }

  /** Units whose ends were not heard of until now. */
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
      // What was missed is read once more, and it is followed anew. Where the store is away, that fails.
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

  /** Nobody has waited for anything for a while. */
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
