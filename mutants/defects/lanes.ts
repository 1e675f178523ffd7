/** Lanes that are parked where nobody looks, and passes made for nothing. */
import type { Defect } from "../defect.ts";

export const defects: readonly Defect[] = [
  {
    id: "freed-gate-calls-only-our-queues",
    means: "a slot freed by one worker reaches a lane of another worker's queue only with the next poll",
    file: "src/engine/claiming/sight.ts",
    from: "    this.#elsewhere = queuesServed(view.sessions);",
    to: "    this.#elsewhere = queuesServed([]);",
    noticedBy: { file: "src/engine/claiming/sight.test.ts", test: "queues of other live workers" },
  },
  {
    id: "parked-lanes-elsewhere-not-shown",
    means: "the store shows parked lanes of the asking worker's queues only",
    file: "src/store/query/pass-look.ts",
    from: "[...scope.queues, ...scope.elsewhere]",
    to: "scope.queues",
    noticedBy: { file: "test/conformance/store.test.ts", test: "shown from the queues of others" },
  },
  {
    id: "undecided-lane-stays-parked",
    means: "a lane that a look could not decide stays parked on a gate with room, and nothing ever calls it",
    file: "src/engine/claiming/lane-moves.ts",
    from: "    return (this.#plan.free.get(lane.parked) ?? 0) < slotsAt(lane, lane.parked) ? lane.parked : undefined;",
    to: "    return lane.parked;",
    noticedBy: { file: "src/engine/claiming/lane-moves.test.ts", test: "that was not decided" },
  },
  {
    id: "freed-gate-calls-nobody",
    means: "whoever frees a gate does not look at the lanes parked there: they wait for the poll",
    file: "src/engine/claiming/sight.ts",
    from: "      parkedOn: keys,",
    to: "      parkedOn: told,",
    noticedBy: { file: "src/engine/claiming/sight.test.ts", test: "whenever we lock them" },
  },
  {
    id: "opened-lane-takes-the-look",
    means: "a lane that was just put in sight uses up the look of the one parked behind it",
    file: "src/engine/claiming/next.ts",
    from: "(!moved.has(lane.id) || moved.get(lane.id) === lane.parked)",
    to: "(moved.get(lane.id) ?? lane.parked) === lane.parked",
    noticedBy: { file: "src/engine/claiming/next.test.ts", test: "put in sight" },
  },
  {
    id: "cut-list-not-read-again",
    means: "who fits into what is left of a gate waits, because the list showed only those who fitted before",
    file: "src/engine/claiming/next.ts",
    from: "  return [...cut].filter((gate) => taken.has(gate) && (plan.free.get(gate) ?? 0) > 0);",
    to: "  return [...cut].filter((gate) => taken.has(gate) && (plan.free.get(gate) ?? 0) > 1_000);",
    noticedBy: { file: "src/engine/claiming/next.test.ts", test: "once more when a part of it was taken" },
  },
  {
    id: "again-without-taking",
    means:
      "a gate whose slots are kept for somebody is looked at again and again, and a processor is busy with it",
    file: "src/engine/claiming/next.ts",
    from: "taken.has(gate) && (plan.free",
    to: "(plan.free",
    noticedBy: { file: "src/engine/claiming/next.test.ts", test: "nothing was taken" },
  },
  {
    id: "whoever-is-in-sight-is-news",
    means: "a pass that changed nothing is repeated at once, for ever",
    file: "src/engine/claiming/sight.ts",
    from: "      this.#cleared || this.#told.length > 0 ||",
    to: "      this.#cleared || this.#lanes.size > 0 ||",
    noticedBy: { file: "src/engine/claiming/store-claims.test.ts", test: "is not worth repeating" },
  },
  {
    id: "spoken-for-is-looked-at",
    means: "with a full queue, every parked lane is taken out for slots that others in sight will take",
    file: "src/engine/claiming/next.ts",
    from: "    if (holdsOf(lane, view).some(isSpokenFor)) return false;",
    to: '    if (holdsOf(lane, view).every(() => isSpokenFor(""))) return false;',
    noticedBy: { file: "src/engine/claiming/next.test.ts", test: "wait for the whole line" },
  },
];
