import { describe } from "vitest";
import { openSqlite } from "../../src/store/sqlite/index.ts";
import { freshSqlite } from "../support/databases.ts";
import { manyLanes } from "./lanes.ts";

describe("very many lanes on SQLite", () => {
  manyLanes(
    async () => {
      const store = await openSqlite(await freshSqlite());
      await store.migrate();
      return store;
    },
    { runs: 3, lanes: 90, parts: [0.3, 1] },
  );
});
