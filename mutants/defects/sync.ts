/** Locks that several engines share through a sync database. */
import type { Defect } from "../defect.ts";

const CRASH = "test/sync/crash.test.ts";
const VERBS = "test/sync/verbs.test.ts";
const STATEMENTS = "test/sync/statements.test.ts";
const RACE = "test/sync/race.test.ts";

export const defects: readonly Defect[] = [
  {
    id: "sync-frees-started",
    means: "a lock is taken from a run in progress when its engine restarts, and two runs hold it",
    file: "src/store/memory/sharing.ts",
    from: "const units = standing(tables, intents).filter((unit) => !isClaimed(tables, unit));",
    to: "const units = standing(tables, intents);",
    noticedBy: {
      file: "test/conformance/store.test.ts",
      test: "memory a unit with shared locks closes no gate",
    },
  },
  {
    id: "sync-keeps-orphans",
    means: "a lock that was taken for a run that never started stays held for ever",
    file: "src/engine/controllers/round.ts",
    from: 'const isAbandoned = session !== speaker.instance || place !== "waiting" || !open || !holds;',
    to: 'const isAbandoned = place !== "waiting";',
    noticedBy: { file: CRASH, test: "before its run was admitted frees" },
  },
  {
    id: "sync-opens-after-lead-was-lost",
    means: "a process that was frozen admits a run whose lock another process has freed",
    file: "src/store/memory/sharing.ts",
    from: "if (!leads(tables, session)) return [];\n  const units = standing(tables, intents);\n  for",
    to: "const units = standing(tables, intents);\n  for",
    noticedBy: {
      file: "test/conformance/store.test.ts",
      test: "memory a unit with shared locks lets a session that lost",
    },
  },
  {
    id: "sync-inactive-in-line",
    means: "a dead engine's waiting run blocks a lock for everybody",
    file: "src/core/shared/line.ts",
    from: "if (row.held || !row.live) continue;",
    to: "if (row.held) continue;",
    noticedBy: { file: VERBS, test: "in memory units of a controller that is not heard" },
  },
  {
    id: "sync-takes-from-inactive",
    means: "a held lock of an inactive engine is taken, and two runs hold it",
    file: "src/core/shared/line.ts",
    from: "if (row.held) held.set(",
    to: "if (row.held && row.live) held.set(",
    noticedBy: { file: VERBS, test: "in memory units of a controller that is not heard" },
  },
  {
    id: "sync-takes-while-inactive",
    means: "an engine that others no longer count takes a lock past its turn",
    file: "src/store/sync/query/take.ts",
    from: 'if (heard.agoMs >= place.inactiveMs) return { kind: "inactive" };',
    to: "",
    noticedBy: { file: VERBS, test: "on PostgreSQL a controller that was not heard takes nothing" },
  },
  {
    id: "sync-two-of-one-name",
    means: "two live engines of one name write each other's rows",
    file: "src/store/sync/query/controller.ts",
    from: "heard.engine !== engine && heard.agoMs < place.inactiveMs",
    to: "heard.engine !== engine && heard.agoMs < 0",
    noticedBy: { file: VERBS, test: "on PostgreSQL two live engines cannot have one name" },
  },
  {
    id: "sync-replaced-still-writes",
    means: "a process that was replaced takes locks that nobody knows of",
    file: "src/store/sync/query/controller.ts",
    from: "return heard?.instance === instance ? heard : undefined;",
    to: "return heard;",
    noticedBy: { file: VERBS, test: "on PostgreSQL a process that was replaced" },
  },
  {
    id: "sync-late-release",
    means: "a release that comes late frees a lock that was taken since",
    file: "src/store/sync/query/line.ts",
    from: " AND intent ${oneOf(taken.map(({ intent }) => intent))}",
    to: "",
    noticedBy: { file: VERBS, test: "on PostgreSQL a late release" },
  },
  {
    id: "sync-guard-for-ever",
    means: "a guard row that somebody left blocks a lock for ever",
    file: "src/store/sync/query/take.ts",
    from: ' WHERE t.controller = excluded.controller OR ${isOld("t.time")}',
    to: " WHERE t.controller = excluded.controller",
    noticedBy: { file: STATEMENTS, test: "on PostgreSQL a guard row" },
  },
  {
    id: "sync-no-guard",
    means: "two engines count at the same moment, and both take a mutex",
    file: "src/store/sync/query/take.ts",
    from: "const guarded = yield* guard(place, speaker, names);",
    to: "const guarded = new Set(names);",
    noticedBy: { file: RACE, test: "on PostgreSQL count one after" },
  },
  {
    id: "sync-place-is-lost",
    means: "a run that has to leave the line for a moment goes to its end",
    file: "src/engine/controllers/round.ts",
    from: "at: createdAt + offsetMs,",
    to: "at: Date.now() + offsetMs,",
    noticedBy: {
      file: "test/sync/engines.test.ts",
      test: "on PostgreSQL a run stands in the shared line only while",
    },
  },
];
