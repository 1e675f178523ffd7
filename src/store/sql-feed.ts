/** The feed over any SQL database. Its own transactions do not go through the door: they move no unit. */
import { sleep } from "../env/timers.ts";
import type { Database } from "./flow.ts";
import { inside } from "./query/door.ts";
import * as feed from "./query/feed.ts";
import { repeated } from "./retry.ts";
import type { FeedCursor, FeedLook, FeedPort, Listener, Page, Renewal } from "./store.ts";

/** Our transactions take milliseconds. */
const LOOK_AGAIN_MS = 5;

export class SqlFeed implements FeedPort {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Three steps, each with its own commit: add the listeners, wait for transactions that may not have seen
   * them, and set where the listeners begin.
   */
  async follow(listeners: readonly Listener[]): Promise<number> {
    await this.#db.transact(() => feed.open(listeners));
    await this.#untilThoseInsideHaveLeft();
    while (await this.#publish());
    const ids = listeners.map(({ id }) => id);
    return repeated(() => this.#db.transact(() => feed.begin(ids)));
  }

  async #untilThoseInsideHaveLeft(): Promise<void> {
    const look = (): Promise<ReadonlySet<string>> => this.#db.transact(inside);
    let left = await look();
    while (left.size > 0) {
      await sleep(LOOK_AGAIN_MS);
      const there = await look();
      left = new Set([...left].filter((one) => there.has(one)));
    }
  }

  resume(listener: Listener, from: FeedCursor): Promise<boolean> {
    return this.#db.transact(() => feed.resume(listener, from));
  }

  /** Publishes pending changes before it reads, if there are any. */
  async changes(look: FeedLook): Promise<Page> {
    const { unpublished, ...page } = await this.#db.read(() => feed.look(look));
    if (!unpublished || page.more) return page;
    const isMore = await this.#publish();
    const { unpublished: _, ...next } = await this.#db.read(() => feed.look(look));
    return { ...next, more: next.more || isMore };
  }

  /** Publishing is safe to repeat after a lost answer: a published change is no longer pending. */
  #publish(): Promise<boolean> {
    return repeated(() => this.#db.transact(() => feed.publish()));
  }

  keepFollowing(listeners: readonly Renewal[], readUpTo: number): Promise<ReadonlySet<string>> {
    return repeated(() => this.#db.transact(() => feed.renew(listeners, readUpTo)));
  }

  unfollow(listeners: readonly string[]): Promise<void> {
    return repeated(() => this.#db.transact(() => feed.close(listeners)));
  }
}
