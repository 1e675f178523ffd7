/** The verbs of the feed in memory. None of them causes a change that the feed would publish. */
import type { FeedPort } from "../store.ts";
import type { Tables } from "./tables.ts";

export function feedVerbs(tables: Tables, now: () => number): FeedPort {
  const { feed } = tables;
  return {
    follow: async (listeners) => feed.follow(now(), listeners),
    resume: async (listener, from) => feed.resume(now(), listener, from),
    changes: async (look) => feed.changes(look),
    keepFollowing: async (listeners, readUpTo) => feed.keep(now(), listeners, readUpTo),
    unfollow: async (ids) => feed.close(ids),
  };
}
