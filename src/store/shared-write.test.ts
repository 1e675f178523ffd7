import { describe, expect, test } from "vitest";
import { SluiceError } from "../core/error.ts";
import { SharedWrite } from "./shared-write.ts";

/** A write whose transactions end when the test says so. */
function world(refused: (unit: string) => unknown = () => undefined) {
  const written: (readonly string[])[] = [];
  const ends: (() => void)[] = [];
  const write = new SharedWrite<string, string>(
    async (units) => {
      written.push(units);
      await new Promise<void>((resolve) => ends.push(resolve));
      const error = units.map(refused).find((each) => each !== undefined);
      if (error !== undefined) throw error;
      return units.map((unit) => unit.toUpperCase());
    },
    (unit) => unit.length,
  );
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const endAll = async () => {
    await turn();
    while (ends.length > 0) {
      for (const end of ends.splice(0)) end();
      await turn();
    }
  };
  return { write, written, ends, turn, endAll };
}

describe("a shared write", () => {
  test("takes the calls of one moment together, and answers each with its own", async () => {
    const { write, written, endAll } = world();
    const calls = Promise.all([write.add(["a"]), write.add(["b", "c"]), write.add([]), write.add(["d"])]);
    await endAll();
    expect(await calls).toEqual([["A"], ["B", "C"], [], ["D"]]);
    expect(written).toEqual([["a", "b", "c", "d"]]);
  });

  test("writes a single call at once, and gathers what comes while two are on their way", async () => {
    const { write, written, ends, turn, endAll } = world();
    const all = [write.add(["a"])];
    await turn();
    all.push(write.add(["b"]));
    await turn();
    for (const unit of ["c", "d", "e"]) {
      all.push(write.add([unit]));
      await turn();
    }
    expect(written).toEqual([["a"], ["b"]]);
    ends.shift()?.();
    await turn();
    expect(written).toEqual([["a"], ["b"], ["c", "d", "e"]]);
    await endAll();
    expect((await Promise.all(all)).flat()).toEqual(["A", "B", "C", "D", "E"]);
  });

  test("a call that cannot be stored fails alone", async () => {
    const { write, written, endAll } = world((unit) => (unit === "bad" ? new Error("refused") : undefined));
    const calls = Promise.allSettled([write.add(["a"]), write.add(["b", "bad"]), write.add(["c"])]);
    await endAll();
    expect((await calls).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(written).toEqual([["a", "b", "bad", "c"], ["a"], ["b", "bad"], ["c"]]);
  });

  test("an unreachable store is not asked again for each call", async () => {
    const away = new SluiceError("STORE_UNREACHABLE", "It is away.");
    const { write, written, endAll } = world(() => away);
    const calls = Promise.allSettled([write.add(["a"]), write.add(["b"])]);
    await endAll();
    expect((await calls).map((each) => each.status === "rejected" && each.reason)).toEqual([away, away]);
    expect(written).toHaveLength(1);
  });

  test("a transaction is bounded in units and in size, and a larger call goes alone", async () => {
    const { write, written, endAll } = world();
    const many = Array.from({ length: 501 }, () => "x");
    const large = "y".repeat(600_000);
    const calls = [many, ["a"], [large], [large], ["b"]].map((units) => write.add(units));
    await endAll();
    await Promise.all(calls);
    expect(written.map(({ length }) => length)).toEqual([501, 2, 2]);
  });
});
