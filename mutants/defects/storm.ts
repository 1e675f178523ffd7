import type { Defect } from "../defect.ts";

/** Found by the storm. */
export const defects: readonly Defect[] = [
  {
    id: "sqlite-renewal-in-line",
    means:
      "Where many want the lock of a file, a lease runs out while its own process writes something else.",
    file: "src/store/sqlite/database.ts",
    from: "isVital || this.#vital === 0",
    to: "isVital || this.#vital >= 0",
    noticedBy: { file: "test/race/sqlite-lock.test.ts", test: "a renewal that comes after a pass" },
  },
  {
    id: "read-is-taken-for-a-commit",
    means: "a worker that looks around at its start ends when the line breaks in that moment",
    file: "src/store/postgres/database.ts",
    from: "    if (commit) this.#committing = this.#writes;",
    to: "    if (commit) this.#committing = true;",
    noticedBy: { file: "test/race/ambiguous-commit.test.ts", test: "is read again" },
  },
  {
    id: "read-is-taken-for-a-commit-mysql",
    means: "a worker that looks around at its start ends when the line breaks in that moment",
    file: "src/store/mysql/database.ts",
    from: 'throw kind === "writing" && transaction.committing ?',
    to: "throw transaction.committing ?",
    noticedBy: { file: "test/race/ambiguous-commit.test.ts", test: "is read again" },
  },
  {
    id: "session-opened-blindly",
    means: "a worker cannot start when the answer to its first word is lost",
    file: "src/store/sql-store.ts",
    from: "isUnsure && this.renewSession(opened.id, opened.leaseMs);",
    to: "isUnsure && opened.leaseMs < 0;",
    noticedBy: { file: "test/race/ambiguous-commit.test.ts", test: "whose opening is" },
  },
  {
    id: "session-opened-late",
    means:
      "A worker cannot start if the first opening of its session arrives while the second one is on its way.",
    file: "src/store/sql-store.ts",
    from: "if (!(await isOpen())) throw error;",
    to: "throw error;",
    noticedBy: { file: "src/store/sql-store.test.ts", test: "arrives after it was looked for" },
  },
];
