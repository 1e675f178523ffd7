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
];
