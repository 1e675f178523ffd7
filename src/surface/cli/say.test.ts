import { expect, test } from "vitest";
import { sayUse } from "./say.ts";

test.each([
  [{ held: 2, limit: 5 }, "2/5"],
  [{ held: 3, limit: -1 }, "3/∞"],
  [{ held: 7, limit: 5, draining: true }, "7/5 draining"],
  [{ held: 0, limit: 0 }, "0/0 paused"],
  [{ held: 0, limit: null }, "-/unset"],
  // Plain SQL can write anything.
  [{ held: 0, limit: -5 }, "0/-5 invalid"],
  [{ held: 1, limit: 9_223_372_036_854_775_807n }, "1/∞"],
  [{ held: 1, limit: 4_000_000_000 }, "1/4000000000"],
])("%o is said as %s", (gate, said) => {
  const limit = gate.limit === null ? null : Number(gate.limit);
  expect(sayUse({ key: "pool:db", paused: false, draining: false, ...gate, limit })).toMatchObject({
    text: said,
  });
});
