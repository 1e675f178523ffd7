/** Defects that a newcomer met with the README and the manual alone. */
import type { Defect } from "../defect.ts";

const DATA = "test/feed/data.test.ts";
const KEEP = "test/feed/keep.test.ts";
const SUITE = "test/conformance/store.test.ts";
const STAYING = "src/engine/staying.test.ts";

export const defects: readonly Defect[] = [
  {
    id: "worker-keeps-nothing-alive",
    means: "A program that only starts a worker on the embedded store ends at once, and says nothing.",
    file: "src/api/start-worker.ts",
    from: "new Staying(env, new Services(parts, () => executor.stopOthers()))",
    to: "new Services(parts, () => executor.stopOthers())",
    noticedBy: { file: "test/e2e/staying.test.ts", test: "a program with only a worker lives" },
  },
  {
    id: "worker-keeps-alive-for-one-day",
    means: "A worker keeps its process alive until a timer fires, and not after that.",
    file: "src/engine/staying.ts",
    from: "() => this.#stay(), {",
    to: "() => {}, {",
    noticedBy: { file: STAYING, test: "a service keeps the process alive for days" },
  },
  {
    id: "worker-leaves-before-it-has-stopped",
    means: "A process may end while its worker still stops.",
    file: "src/engine/staying.ts",
    from: "    try {\n      await this.#inner.stop(options);",
    to: "    this.#leave();\n    try {\n      await this.#inner.stop(options);",
    noticedBy: { file: STAYING, test: "a service keeps the process alive for days" },
  },
  {
    id: "worker-stays-after-a-failed-stop",
    means: "A process stays for ever because a part of its worker could not stop.",
    file: "src/engine/staying.ts",
    from: "    } finally {\n      this.#leave();\n    }",
    to: "    } catch (error) {\n      throw error;\n    }\n    this.#leave();",
    noticedBy: { file: STAYING, test: "a service that cannot stop does not keep" },
  },
  {
    id: "feed-keep-counts-from-the-renewal",
    means: "A reader that stops shortly before its next renewal has less than its keep time to come back.",
    file: "src/store/ports/feed.ts",
    from: "MARGIN_MS = 3 * RENEW_MS",
    to: "MARGIN_MS = 0 * RENEW_MS",
    noticedBy: { file: KEEP, test: "a reader that is killed after" },
  },
  {
    id: "feed-renews-by-the-keep-time",
    means: "A reader with a long keep time renews its listener so rarely that the margin does not suffice.",
    file: "src/engine/feed/follower.ts",
    from: "    this.#renewAt = this.#env.monotonic() + RENEW_MS;\n  }",
    to: "    this.#renewAt = this.#env.monotonic() + 20 * RENEW_MS;\n  }",
    noticedBy: { file: KEEP, test: "a reader that is killed after" },
  },
  {
    id: "feed-forgets-the-slow-reader",
    means: "What a slow reader has not read is swept while it works, so it cannot resume when it stops.",
    file: "src/engine/feed/member.ts",
    from: "return first ? first.position - 1 : this.#position;",
    to: "return first && this.#isOver ? first.position - 1 : this.#position;",
    noticedBy: { file: KEEP, test: "a reader that is killed after it was slow" },
  },
  {
    id: "feed-sweeps-without-the-margin",
    means: "The changes of a reader are swept before its keep time is over.",
    file: "src/store/query/feed-sweep.ts",
    from: " - ${raw(String(MARGIN_MS))}",
    to: "",
    noticedBy: { file: SUITE, test: "a reader can resume for its whole keep time" },
  },
  {
    id: "feed-renewal-forgets-who-is-behind",
    means: "A renewal keeps changes by their age, and not for as long as a slow reader needs them.",
    file: "src/store/query/feed.ts",
    from: "keep_ms = ${keepBehind(keepMs, behindMs)}",
    to: "keep_ms = ${keepBehind(keepMs, 0 * behindMs)}",
    noticedBy: { file: SUITE, test: "keeps what a slow reader has not read yet" },
  },
  {
    id: "feed-keeps-for-ever",
    means: "A reader that has stopped reading makes the store keep every change.",
    file: "src/store/feed.ts",
    from: "Math.min(MOST_KEEP_MS, Math.max(0, behindMs))",
    to: "Math.max(0, behindMs)",
    noticedBy: { file: SUITE, test: "does not keep changes for ever" },
  },
  {
    id: "feed-claims-without-slots",
    means: "StepSlotClaimed is accepted by the filter and told only of steps that were claimed in advance.",
    file: "src/store/query/tell.ts",
    from: "WHEN t.run IS NOT NULL AND r.held = 1 THEN",
    to: "WHEN t.run IS NOT NULL AND r.held = 2 THEN",
    noticedBy: { file: DATA, test: "on SQLite a change has the data" },
  },
  {
    id: "feed-accepts-what-it-never-tells",
    means: "A filter accepts a kind that only histories have, and its reader waits for ever.",
    file: "src/api/change-view.ts",
    from: 'seen.push("StepSlotClaimed")',
    to: 'seen.push("StepSlotClaimed", "StepSlotReleased")',
    noticedBy: { file: "test/feed/kinds.test.ts", test: "every kind of change is told" },
  },
  {
    id: "feed-splits-a-change",
    means: "A reader that resumes between the two views of one change never gets the second.",
    file: "src/api/change-view.ts",
    from: "cursorAt(isStart ? position - 1 : position)",
    to: "cursorAt(position)",
    noticedBy: { file: "src/api/change-view.test.ts", test: "a step that starts has the data" },
  },
];
