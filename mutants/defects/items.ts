import type { Defect } from "../defect.ts";

const TOLD = "test/fan-out/told.test.ts";

/** Items of lists: what is told of them, and how long they may wait. */
export const defects: readonly Defect[] = [
  {
    id: "items-clock-from-enqueue",
    means: "a long list on a small pool fails although its items are let in one after the other",
    file: "src/engine/runs/timers.ts",
    from: "clock(Math.max(at, list.claimedAt ?? at))",
    to: "clock(at)",
    noticedBy: { file: TOLD, test: "a list that moves on" },
  },
  {
    id: "items-read-twice",
    means: "a list that two steps of one look read has every item twice",
    file: "src/store/query/results.ts",
    from: "once(items).map(selectItems)",
    to: "items.map(selectItems)",
    noticedBy: {
      file: "test/conformance/store.test.ts",
      test: "is read once, however often one look asks for it",
    },
  },
  {
    id: "items-no-claim-timeout",
    means: "items wait for ever for a pool that nobody frees",
    file: "src/engine/runs/fan-out.ts",
    from: "waitsForOthers(step) ? [{ lane: fan.lane",
    to: "!waitsForOthers(step) ? [{ lane: fan.lane",
    noticedBy: { file: TOLD, test: "let in none of" },
  },
  {
    id: "items-cancelled-without-words",
    means: "the error of a cancelled item has no name and no message",
    file: "src/engine/runs/fan-out.ts",
    from: "JSON.stringify({ state, error: endError(seen.state, body) })",
    to: "JSON.stringify({ state, error: body })",
    noticedBy: { file: TOLD, test: "has an error with a name" },
  },
  {
    id: "items-timer-outlives-run",
    means: "timers of cancelled runs ring for ever",
    file: "src/store/query/run-end.ts",
    from: "${steps}) OR id IN (${lists})`",
    to: "${steps})`",
    noticedBy: { file: "test/conformance/store.test.ts", test: "tells of a list who waits in it" },
  },
  {
    id: "items-events-of-wrong-page",
    means: "asking for one page of items tells of all of them",
    file: "src/api/runs.ts",
    from: "this.#store.items(id, step, page)",
    to: "this.#store.items(id, step, { ...page, limit: 9_999 })",
    noticedBy: { file: TOLD, test: "an item that waited for a pool" },
  },
  {
    id: "rerun-unmarked",
    means: "a rerun does not say what it took over",
    file: "src/api/run-view.ts",
    from: "if (unit !== null) return ofRun === id ? undefined : (ofRun ?? undefined);",
    to: "if (unit !== null) return undefined;",
    noticedBy: { file: TOLD, test: "a rerun marks what it took over" },
  },
  {
    id: "unreached-stays-pending",
    means: "a cancelled run shows steps that still seem to come",
    file: "src/api/run-view.ts",
    from: 'state: isOver ? "cancelled" : "pending"',
    to: 'state: "pending"',
    noticedBy: { file: TOLD, test: "never reached" },
  },
];
