/** Defects that people met who tried the product with its documents alone. */
import type { Defect } from "../defect.ts";

const BY_SQL = "test/doctor/by-sql.test.ts";
const PURE = "src/core/gate/explain.test.ts";
const REPLACED = "test/doctor/replaced.test.ts";

export const defects: readonly Defect[] = [
  {
    id: "events-begin-again-with-the-row",
    means: "After a gate's row was deleted by SQL its limit cannot be set any more.",
    file: "src/store/query/change-limit.ts",
    from: "Math.max(gate?.n ?? 0, only(told)) + 1",
    to: "(gate?.n ?? 0) + 1",
    noticedBy: { file: BY_SQL, test: "a limit can be set again" },
  },
  {
    id: "nameless-row-is-a-gate",
    means: "A row without a name is the family of every gate that no pass has seen yet.",
    file: "src/store/query/gates.ts",
    from: 'const named = found.filter(({ key }) => key !== "");',
    to: "const named = found;",
    noticedBy: { file: BY_SQL, test: "a row without a name" },
  },
  {
    id: "why-counts-nobody-ahead",
    means: "The limit that why names lets in those ahead, and not the unit that was asked about.",
    file: "src/core/gate/explain.ts",
    from: "return suffices ? exact : this.#roomFor(needed, line);",
    to: "return suffices ? this.#roomFor(needed, [unit]) : exact;",
    noticedBy: { file: PURE, test: "counts those who would start with it" },
  },
  {
    id: "why-guesses-behind-a-cut-line",
    means: "Where not all are seen who stand ahead, why names a limit that is too small.",
    file: "src/core/gate/explain.ts",
    from: "return isCut ? reason :",
    to: "return isCut && room < 0 ? reason :",
    noticedBy: { file: PURE, test: "has no command where not all are seen" },
  },
  {
    id: "doctor-overlooks-operators",
    means: "Doctor says that the strictest limit is in force beside an operator's value.",
    file: "src/api/doctor/declared.ts",
    from: "if (limit === declared || limit === null)",
    to: "if (limit === declared || limit !== declared)",
    noticedBy: { file: REPLACED, test: "which value is in force" },
  },
  {
    id: "doctor-forgets-runs-in-progress",
    means: "A started run that no worker moves on is no finding.",
    file: "src/api/doctor/workers.ts",
    from: "findings.push(...standstill(seen));",
    to: "",
    noticedBy: { file: REPLACED, test: "a run in progress that no worker" },
  },
  {
    id: "hints-are-dropped-at-the-end",
    means: "A command that cancels and leaves is heard with the heartbeat only.",
    file: "src/store/postgres/notices.ts",
    from: "    if (this.#pending.size > 0) this.#send();\n    this.#closed = true;",
    to: "    this.#closed = true;",
    noticedBy: { file: "src/store/postgres/notices.test.ts" },
  },
  {
    id: "claims-run-before-they-begin",
    means: "A task that a blocked process was handed is shown as running.",
    file: "src/store/memory/read.ts",
    from: 'running.startedAt === null && running.progress === null ? "claimed" : "running"',
    to: '!running.held ? "claimed" : "running"',
    noticedBy: {
      file: "test/conformance/store.test.ts",
      test: "shows a claim as running when its code has begun",
    },
  },
  {
    id: "each-end-asks-for-itself",
    means: "A thousand who wait for ends ask a thousand questions each time.",
    file: "src/api/ended.ts",
    from: "const AT_ONCE = 1_000;",
    to: "const AT_ONCE = 1;",
    noticedBy: { file: "src/api/ended.test.ts", test: "a thousand who wait at once" },
  },
];
