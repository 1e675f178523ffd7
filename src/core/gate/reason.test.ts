import { describe, expect, it } from "vitest";
import type { Waiter } from "./admit.ts";
import { admit } from "./admit.ts";
import { describe as say } from "./describe.ts";
import type { Gate } from "./gate.ts";
import type { Reason } from "./reason.ts";
import { eachFrontOnce, gatesNamed } from "./reason.ts";

const full: Reason = { kind: "full", gate: "g", limit: 1, held: 1, asked: 1, ahead: 0 };
const behind = (gate: string, unit: string, reasons: readonly Reason[]): Reason => ({
  kind: "behind",
  gate,
  limit: 1,
  held: 0,
  asked: 1,
  ahead: 1,
  front: { unit, reasons },
});

describe("reasons that lead to the same front", () => {
  const first = behind("x", "a", [full]);
  const again = behind("y", "a", [full]);

  it("tell what holds it back only where it comes first", () => {
    expect(eachFrontOnce([first, again])).toEqual([first, behind("y", "a", [])]);
    const nested = [behind("z", "b", [first]), again];
    expect(eachFrontOnce(nested)).toEqual([behind("z", "b", [first]), behind("y", "a", [])]);
  });

  it("are left as they were", () => {
    const reasons = [first, again];
    eachFrontOnce(reasons);
    expect(reasons).toEqual([behind("x", "a", [full]), behind("y", "a", [full])]);
  });

  it("name each gate on the way", () => {
    expect([...gatesNamed([first, again])]).toEqual(["x", "g", "y"]);
  });
});

describe("a chain in which each stands behind the two before it", () => {
  /** The reasons of the last of 40 units, each of which asks for three consecutive gates. */
  const gateKeys = Array.from({ length: 42 }, (_, i) => `g${i}`);
  const gates = gateKeys.map(
    (key, i): Gate => ({
      key,
      limit: 1,
      paused: false,
      line: "strict",
      held: i === 0 ? 1 : 0,
    }),
  );
  const line = Array.from(
    { length: 40 },
    (_, i): Waiter => ({
      id: `u${i}`,
      rank: 1,
      priority: 0,
      at: i,
      lane: `${i}`,
      asks: gateKeys.slice(i, i + 3).map((gate) => ({ gate, slots: 1 })),
    }),
  );
  const reasons = admit({ now: 0, gates, line }).waiting.get("u39") as readonly Reason[];

  it("is told without repeating itself", () => {
    const once = eachFrontOnce(reasons);
    expect(once.map((reason) => "gate" in reason && reason.gate)).toEqual(["g39", "g40"]);
    expect(JSON.stringify(once).length).toBeLessThan(40 * 300);
  });

  it("is followed to its end", () => {
    expect(gatesNamed(reasons).size).toBe(40 + 1);
  });

  it("becomes a sentence that can be read", () => {
    for (const indent of [undefined, 2]) {
      const text = reasons.map((reason) => say(reason, { now: 0, ...(indent && { indent }) })).join("\n");
      expect(text.length).toBeLessThan(20_000);
      expect(text.split('"g0" is full')).toHaveLength(reasons.length + 1);
    }
  });
});
