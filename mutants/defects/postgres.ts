import type { Defect } from "../defect.ts";

const SETTINGS = "test/postgres/settings.test.ts";
const POOLER = "test/postgres/pooler.test.ts";
const AS_ALWAYS = "does what it always does";

const LOCKED = "test/race/locked-unit.test.ts";

/** Servers as people run them: their settings, their plans, and who stands before them. */
export const defects: readonly Defect[] = [
  {
    id: "head-passes-a-locked-unit",
    means: "A unit that another transaction had locked for a moment waits forever, and nothing says why.",
    file: "src/store/query/lanes.ts",
    from: "head: (column, decided) => `CASE WHEN ${IS_PAST} THEN s.${column} ELSE ${decided} END`,",
    to: "head: (_, decided) => decided,",
    noticedBy: { file: LOCKED, test: "is claimed once it is free" },
  },
  {
    id: "postgres-jit-on",
    means: "a server with LLVM may compile each statement first, and is a hundred times slower",
    file: "src/store/postgres/settings.ts",
    from: 'jit: "off",',
    to: 'jit: "on",',
    noticedBy: { file: SETTINGS, test: AS_ALWAYS },
  },
  {
    id: "postgres-no-index-to-use",
    means: "plans with a cost of 1e10, in which every other choice drowns",
    file: "src/store/sql.ts",
    from: "key} >= ''`",
    to: "key} IS NOT NULL`",
    // The test looks at every statement that the others of its file have made.
    noticedBy: { file: "test/conformance/store.test.ts" },
  },
  {
    id: "postgres-isolation-of-the-admin",
    means: "under default_transaction_isolation = serializable, passes fail and start over without need",
    file: "src/store/postgres/settings.ts",
    from: '"BEGIN ISOLATION LEVEL READ COMMITTED"',
    to: '"BEGIN"',
    noticedBy: { file: SETTINGS, test: AS_ALWAYS },
  },
  {
    id: "postgres-url-replaces-settings",
    means: "a search_path in the URL takes all our settings away",
    file: "src/store/postgres/settings.ts",
    from: 'parsed.searchParams.delete("options");',
    to: "",
    noticedBy: { file: SETTINGS, test: "settings in the URL" },
  },
  {
    id: "postgres-listener-times-out",
    means: "under idle_session_timeout, hints are lost again and again",
    file: "src/store/postgres/settings.ts",
    from: 'idle_session_timeout: "0"',
    to: "",
    noticedBy: { file: SETTINGS, test: "outlives idle_session_timeout" },
  },
  {
    id: "postgres-few-connections-fail",
    means: "a role with few connections fails whatever comes at the same moment",
    file: "src/store/retry.ts",
    from: '  "53300",\n',
    to: "",
    noticedBy: { file: SETTINGS, test: "too few connections" },
  },
  {
    id: "doctor-reads-other-settings",
    means: "a doctor that looks at a kind of transaction in which no work is moved",
    file: "src/store/sql-store.ts",
    from: "passesAtOnce ? this.#db.transact(settings) : this.#db.read(settings)",
    to: "this.#db.read(settings)",
    noticedBy: { file: SETTINGS, test: AS_ALWAYS },
  },
  {
    id: "pooler-not-noticed-by-its-number",
    means: "behind a pooler whose role has our settings, statements are not found again",
    file: "src/store/postgres/pooler.ts",
    from: "rows[0]?.process !== told || ",
    to: "",
    noticedBy: { file: "src/store/postgres/pooler.test.ts" },
  },
  {
    id: "pooled-commit-prepared",
    means: "behind a pooler, a commit that another connection has prepared",
    file: "src/store/postgres/database.ts",
    from: "this.#isOurs ? COMMIT : { ...COMMIT, name: undefined }",
    to: "COMMIT",
    noticedBy: { file: POOLER, test: "without being told of it" },
  },
  {
    id: "pooled-without-settings",
    means: "behind a pooler, who freezes inside a pass stops everybody",
    file: "src/store/postgres/settings.ts",
    from: "writing: [plain(WRITING), setLocally(SETTINGS)]",
    to: "writing: [plain(WRITING)]",
    noticedBy: { file: POOLER, test: "each transaction has our settings" },
  },
  {
    id: "close-forgets-those-who-asked",
    means: "behind a pooler, a call that waits for a connection learns of a close only after 10 s",
    file: "src/store/postgres/database.ts",
    from: "await this.#turns.close();",
    to: "void this.#turns.close();",
    noticedBy: { file: POOLER, test: "a close tells who waits" },
  },
  {
    id: "turns-close-too-early",
    means: "the connections end below calls that are under way",
    file: "src/store/turns.ts",
    from: "if (this.#taken === 0) return;",
    to: "return;",
    noticedBy: { file: "src/store/turns.test.ts", test: "who works may finish" },
  },
];
