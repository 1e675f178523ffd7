import type { Defect } from "../defect.ts";

const SUITE = "test/conformance/store.test.ts";
const BEGIN = "test/feed/begin.test.ts";
const ENDED = "src/api/ended.test.ts";
const FOLLOWER = "src/engine/feed/follower.test.ts";

/** A feed that seems whole and is not. */
export const defects: readonly Defect[] = [
  {
    id: "feed-no-door",
    means: "a listener begins while somebody who did not see it has not committed, and never hears of that",
    file: "src/store/query/door.ts",
    from: "SELECT pg_advisory_xact_lock_shared(${KEY}) AS heard",
    to: "SELECT 1 AS heard",
    noticedBy: { file: BEGIN, test: "whoever did not see a listener" },
  },
  {
    id: "feed-clears-nothing",
    means: "two processes that publish at the same moment publish the same changes twice",
    file: "src/store/query/feed.ts",
    from: "sql`DELETE FROM sluice_change_new WHERE ${among}`",
    to: "sql`DELETE FROM sluice_change_new WHERE ${among} AND 1 = 0`",
    noticedBy: { file: BEGIN, test: "two who publish at the same moment" },
  },
  {
    id: "feed-publishes-backwards",
    means: "the changes of one unit are told in the wrong order",
    file: "src/store/query/feed.ts",
    from: "OVER (ORDER BY seq)",
    to: "OVER (ORDER BY seq DESC)",
    noticedBy: { file: SUITE, test: "tells of a run and its steps" },
  },
  {
    id: "feed-clears-by-range",
    means: "a change with an earlier number that is committed later is cleared away unread",
    file: "src/store/query/feed.ts",
    from: "sql`DELETE FROM sluice_change_new WHERE ${among}`",
    to: "sql`DELETE FROM sluice_change_new WHERE seq <= ${found.at(-1)}`",
    noticedBy: { file: BEGIN, test: "what is committed late is told late" },
  },
  {
    id: "feed-filter-too-narrow",
    means: "whoever follows a run hears of its steps, and never that it has ended",
    file: "src/store/query/tell.ts",
    from: " OR x.run = ${c.subject}",
    to: "",
    noticedBy: { file: SUITE, test: "tells of a run and its steps" },
  },
  {
    id: "feed-tells-stale-reports",
    means: "a report that changed nothing is told as a change",
    file: "src/store/query/pass-write.ts",
    from: "exits.filter(({ epoch }) => current.has(epoch))",
    to: "exits",
    noticedBy: { file: SUITE, test: "records nothing of a report that comes too late" },
  },
  {
    id: "feed-resumes-before-its-start",
    means: "a cursor is accepted from before its listener began, and what was not recorded is missed",
    file: "src/store/query/feed.ts",
    from: " || from.position < known.since",
    to: "",
    noticedBy: { file: SUITE, test: "does not go on from a listener" },
  },
  {
    id: "feed-resumes-with-another-filter",
    means: "a cursor is accepted for more than was recorded, and the rest is missed",
    file: "src/store/query/feed.ts",
    from: "if (!covers(known, listener)) return false;",
    to: "",
    noticedBy: { file: SUITE, test: "does not go on from a listener" },
  },
  {
    id: "feed-sweeps-in-silence",
    means: "changes that are not kept any more are passed over without a word",
    file: "src/store/query/feed.ts",
    from: "lapsed: after < only(head).swept,",
    to: "lapsed: false,",
    noticedBy: { file: SUITE, test: "lets go of changes" },
  },
  {
    id: "feed-forgets-in-silence",
    means: "a process that slept goes on as if its listener had been there all the time",
    file: "src/engine/feed/follower.ts",
    from: "this.#forget(listeners.filter((id) => !page.alive.has(id)));",
    to: "",
    noticedBy: { file: FOLLOWER, test: "slept too long" },
  },
  {
    id: "feed-misses-its-beginning",
    means: "what happens while a subscriber begins is read by the others, and lost for this one",
    file: "src/engine/feed/member.ts",
    from: "this.#early.push(...changes);",
    to: "",
    noticedBy: { file: FOLLOWER, test: "what happens while somebody begins" },
  },
  {
    id: "feed-unbounded-reader",
    means: "somebody who does not read fills the memory of the process",
    file: "src/api/feed.ts",
    from: "this.#changes.length + changes.length > MOST_UNREAD",
    to: "this.#changes.length + changes.length < 0",
    noticedBy: { file: "src/api/feed.test.ts", test: "whoever does not read" },
  },
  {
    id: "ended-misses-the-moment",
    means: "a task that ends while its name begins to be followed is waited for for ever",
    file: "src/api/ended.ts",
    from: "this.#read(await this.#hear(open));",
    to: "await this.#hear(open);",
    noticedBy: { file: ENDED, test: "a task that ends while its name begins" },
  },
  {
    id: "ended-does-not-begin-anew",
    means: "after an interruption of the feed, whoever waits waits for ever",
    file: "src/api/ended.ts",
    from: "this.#read([...this.#nameOf].filter(([, other]) => other === name).map(([id]) => id));",
    to: "",
    noticedBy: { file: ENDED, test: "a feed that was interrupted" },
  },
];
