import { expect, test } from "vitest";
import { AmbiguousCommit } from "./retry.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { SqlStore } from "./sql-store.ts";

/** A database that answers its transactions by a script. */
function scripted(script: readonly unknown[]) {
  const left = [...script];
  const transact = async (): Promise<never> => {
    const answer = left.shift();
    if (answer instanceof Error) throw answer;
    return answer as never;
  };
  const db = {
    dialect: "postgres",
    where: "",
    transact,
    read: transact,
    hint: () => {},
    close: async () => {},
  };
  return { store: new SqlStore(db as unknown as SqlDatabase), left };
}

const SESSION = { id: "s", name: "w", slots: 1, serves: "{}", leaseMs: 1_000 };
const lost = () => new AmbiguousCommit(new Error("cut"));
const duplicate = () => Object.assign(new Error("duplicate key"), { code: "23505" });

test("a session whose opening arrives after it was looked for is open, and once", async () => {
  const { store, left } = scripted([lost(), false, duplicate(), true]);
  await store.openSession(SESSION);
  expect(left).toEqual([]);
});

test("an error of a first opening is told as it is", async () => {
  const { store, left } = scripted([duplicate(), true]);
  await expect(store.openSession(SESSION)).rejects.toThrow("duplicate key");
  expect(left).toEqual([true]);
});
