/** The feed over any SQL database. Its own transactions do not go through its door: they move no unit. */
import type { Database } from "./flow.ts";
import * as feed from "./query/feed.ts";
import { repeated } from "./retry.ts";
import type { FeedCursor, FeedLook, FeedPort, Listener, Page } from "./store.ts";

export class SqlFeed implements FeedPort {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Three steps, each committed by itself: they are there, nobody is left who did not see them, and this is where they begin. */
  async follow(listeners: readonly Listener[]): Promise<number> {
    await this.#db.transact(() => feed.open(listeners));
    await this.#db.transact(() => feed.waitForThoseInside());
    while (await this.#publish());
    const ids = listeners.map(({ id }) => id);
    return repeated(() => this.#db.transact(() => feed.begin(ids)));
  }

  resume(listener: Listener, from: FeedCursor): Promise<boolean> {
    return this.#db.transact(() => feed.resume(listener, from));
  }

  /** Publishes first what has been recorded since, where there is something. */
  async changes(look: FeedLook): Promise<Page> {
    const { unpublished, ...page } = await this.#db.read(() => feed.look(look));
    if (!unpublished || page.more) return page;
    const isMore = await this.#publish();
    const { unpublished: _, ...next } = await this.#db.read(() => feed.look(look));
    return { ...next, more: next.more || isMore };
  }

  /** A lost answer is harmless: what was published is not there a second time. */
  #publish(): Promise<boolean> {
    return repeated(() => this.#db.transact(() => feed.publish()));
  }

  keepFollowing(listeners: readonly string[]): Promise<ReadonlySet<string>> {
    return repeated(() => this.#db.transact(() => feed.renew(listeners)));
  }

  unfollow(listeners: readonly string[]): Promise<void> {
    return repeated(() => this.#db.transact(() => feed.close(listeners)));
  }
}
