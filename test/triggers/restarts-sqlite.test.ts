import { openSqlite } from "../../src/store/sqlite/index.ts";
import { sqliteTimeOf } from "../../src/testing/index.ts";
import { freshSqlite } from "../support/databases.ts";
import { restartCases } from "./restarts.ts";

restartCases(async (clock) => {
  const path = await freshSqlite();
  return () => openSqlite(path, sqliteTimeOf(clock));
});
