import type { Defect } from "../defect.ts";

/** Slots that follow the code: what would go wrong if they did not. */
export const defects: readonly Defect[] = [
  {
    id: "limits-list-hides-stopping",
    means: "a limit looks free to raise, although code that should have ended holds it",
    file: "src/surface/cli/limits.ts",
    from: "${stillHeld(views, now)}${rest}`",
    to: "${rest}`",
    noticedBy: { file: "test/cli/stopping.test.ts", test: "every listing says" },
  },
  {
    id: "task-show-hides-stopping",
    means: "a cancelled task looks over, although its code still runs",
    file: "src/surface/cli/show.ts",
    from: '    ...stoppingLines(stopping, now).map((text): [string, string] => ["stopping", text]),\n',
    to: "",
    noticedBy: { file: "test/cli/stopping.test.ts", test: "every listing says" },
  },
  {
    id: "run-show-hides-stopping",
    means: "a cancelled run looks over, although the code of a step still runs",
    file: "src/surface/cli/run-show.ts",
    from: '    ...stoppingLines(stopping, now).map((text): [string, string] => ["stopping", text]),\n',
    to: "",
    noticedBy: { file: "test/cli/stopping.test.ts", test: "every listing says" },
  },
  {
    id: "cancel-frees-at-once",
    means: "a cancelled task that still runs shares its pool of 1 with its successor",
    file: "src/store/query/hand.ts",
    from: "const isHeld = unit.claim?.held === true;",
    to: "const isHeld = false;",
    noticedBy: {
      file: "test/conformance/store.test.ts",
      test: "has its outcome at once, and holds its gates",
    },
  },
  {
    id: "timeout-frees-at-once",
    means: "code that overran its timeout and is deaf shares its slot with its successor",
    file: "src/store/query/settle.ts",
    from: "    stopping: stopping === true,",
    to: "    stopping: false,",
    noticedBy: { file: "test/conformance/store.test.ts", test: "over its time has" },
  },
  {
    id: "usage-without-stopping",
    means: "code that should have ended counts at no gate",
    file: "src/store/query/look.ts",
    from: '"SELECT lane, session, 1 AS held, until_at FROM sluice_stopping"',
    to: '"SELECT lane, session, 0 AS held, until_at FROM sluice_stopping"',
    noticedBy: {
      file: "test/conformance/store.test.ts",
      test: "has its outcome at once, and holds its gates",
    },
  },
  {
    id: "stopped-without-news",
    means: "a cancelled run holds the run cap for ever after its last step has stopped",
    file: "src/store/query/stopping.ts",
    from: "AND t.run IS NOT NULL`,",
    to: "AND t.run IS NULL`,",
    noticedBy: {
      file: "test/race/stopping.test.ts",
      test: "two steps of a cancelled run stop at the same moment",
    },
  },
  {
    id: "stopped-news-if-over",
    means: "a step that stops in the moment in which its run ends leaves the run's slots held for ever",
    file: "src/store/query/stopping.ts",
    from: "AND t.run IS NOT NULL`,",
    to: "AND EXISTS (SELECT 1 FROM sluice_outcome o WHERE o.id = t.run)`,",
    noticedBy: {
      file: "test/race/stopping.test.ts",
      test: "a step stops in the moment in which its run ends",
    },
  },
  {
    id: "run-lets-go-with-its-end",
    means: "a cancelled run gives its mutex away while its step still runs",
    file: "src/store/query/expire.ts",
    from: '      stopping: isStillStopping("u.id"),',
    to: "      stopping: sql`u.held = 2`,",
    noticedBy: {
      file: "test/conformance/store.test.ts",
      test: "of a step keeps the slots, the gates and the lanes of its run",
    },
  },
  {
    id: "claim-lease-ends-stopping",
    means: "code that had just begun when it was cancelled stops counting after its claim lease, and runs on",
    file: "src/store/query/stopping.ts",
    from: ".lease_ms IS NULL THEN NULL ELSE",
    to: ".lease_ms IS NULL THEN until_at ELSE",
    noticedBy: {
      file: "test/conformance/store.test.ts",
      test: "does not stop at the end of its claim lease",
    },
  },
  {
    id: "worker-forgets-stopping",
    means: "a worker begins more code than it has slots, because what it was told to stop does not count",
    file: "src/engine/worker/holdings.ts",
    from: "    return this.#active.size + this.#stopping.size;",
    to: "    return this.#active.size;",
    noticedBy: { file: "src/engine/worker/code-stopping.test.ts", test: "uses its slot until it has ended" },
  },
  {
    id: "let-go-before-the-answer",
    means: "a slot is freed while the code of the claim in an answer on its way is about to begin",
    file: "src/engine/worker/recovery.ts",
    from: "    if (stopping.length === 0) return;\n    await exchanges.landed();\n",
    to: "    if (stopping.length === 0) return;\n",
    noticedBy: {
      file: "src/engine/worker/code-stopping.test.ts",
      test: "in an answer that is still on its way will run here",
    },
  },
  {
    id: "stopped-overtakes-its-end",
    means: "that code has stopped is said before its end is known, and its slot is held until the lease ends",
    file: "src/engine/worker/outbox.ts",
    from: "    return this.#finished.filter((one) => !isStopped(one) || !this.#telling.has(one.epoch));",
    to: "    return this.#finished.filter(() => true);",
    noticedBy: {
      file: "src/engine/worker/code-stopping.test.ts",
      test: "is not said to have stopped before the store knows",
    },
  },
  {
    id: "kept-beside-its-successor",
    means: "a claim kept ahead that has lapsed takes the running claim of the same task with it",
    file: "src/engine/worker/running.ts",
    from: "    holdings.takeAhead(id);\n    const before",
    to: "    const before",
    noticedBy: {
      file: "src/engine/worker/taken-away.test.ts",
      test: "takes the place of its claim that was kept ahead",
    },
  },
];
