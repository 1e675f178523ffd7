/** One follower per store followed in this process. */
import type { Env } from "../../env/env.ts";
import { closed } from "../../store/lifetime.ts";
import type { Store } from "../../store/store.ts";
import { FeedFollower } from "./follower.ts";

const followers = new WeakMap<Store, FeedFollower>();

export function followerOf(store: Store, env: Env): FeedFollower {
  const known = followers.get(store) ?? new FeedFollower(store, env);
  followers.set(store, known);
  return known;
}

/** Tells the remaining members that the store is closed. */
export function closeFeed(store: Store): void {
  followers.get(store)?.close(closed());
}
