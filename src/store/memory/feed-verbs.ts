import type { FeedVerbs } from "../feed.ts";
import * as read from "./read.ts";
import type { Tables } from "./tables.ts";

export function feedVerbs(tables: Tables, now: () => number): FeedVerbs {
  const { feed } = tables;
  return {
    follow: async (listeners) => feed.follow(now(), listeners),
    resume: async (...given) => feed.resume(now(), ...given),
    changes: async (look) => feed.changes(look),
    keepFollowing: async (ids) => feed.keep(now(), ids),
    unfollow: async (ids) => feed.close(ids),
    tasksById: async (ids) => [...new Set(ids)].flatMap((id) => read.task(tables, id) ?? []),
  };
}
