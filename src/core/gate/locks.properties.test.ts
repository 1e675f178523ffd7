import assert from "node:assert/strict";
import fc from "fast-check";
import { expect, it } from "vitest";
import { chance } from "../../../test/support/arbitrary-line.ts";
import type { Waiter } from "./admit.ts";
import { admit } from "./admit.ts";
import type { Ask, Gate } from "./gate.ts";
import { lineOf } from "./gate.ts";
import { inOrder } from "./order.ts";

// Loads of units that ask for several locks at once, some of them with the line "skip", under random arrivals and ends.

const LIMITS: Readonly<Record<string, number>> = { m1: 1, m2: 1, m3: 1, s2: 2, s3: 3 };
const NAMES = Object.keys(LIMITS);

const lock = fc.tuple(fc.constantFrom(...NAMES), fc.integer({ min: 1, max: 3 }), fc.nat(3));
const unit = fc.tuple(
  fc.uniqueArray(lock, { minLength: 1, maxLength: 4, selector: ([name]) => name }),
  fc.nat(2),
);
const loads = fc.tuple(fc.array(unit, { minLength: 2, maxLength: 24 }), fc.integer());

type Load = typeof loads extends fc.Arbitrary<infer T> ? T : never;

function waiters([units]: Load): Waiter[] {
  return units.map(([locks, priority], index): Waiter => {
    const asks = locks.map(
      ([gate, slots, skips]): Ask => ({
        gate,
        slots: Math.min(slots, LIMITS[gate] as number),
        ...(skips === 0 ? { line: "skip" } : {}),
      }),
    );
    return {
      id: `u${String(index).padStart(2, "0")}`,
      lane: JSON.stringify(asks),
      asks,
      rank: 1,
      priority,
      at: index,
    };
  });
}

const gatesWith = (running: readonly Waiter[]): Gate[] =>
  NAMES.map((key) => ({
    key,
    limit: LIMITS[key] as number,
    paused: false,
    line: "strict",
    held: heldAt(running, key),
  }));

const heldAt = (running: readonly Waiter[], key: string): number =>
  running.reduce((sum, { asks }) => sum + (asks.find(({ gate }) => gate === key)?.slots ?? 0), 0);

const STRICT = { line: "strict" } as const;
const keepsPlace = ({ asks }: Waiter, key: string): boolean =>
  asks.some((ask) => ask.gate === key && lineOf(ask, STRICT) === "strict");

/** A unit that holds nobody back unless all that is in its way is the line of locks where it keeps its place. */
const stands = (one: Waiter, running: readonly Waiter[]): boolean =>
  one.asks.every(
    (ask) =>
      lineOf(ask, STRICT) === "strict" ||
      heldAt(running, ask.gate) + ask.slots <= (LIMITS[ask.gate] as number),
  );

it("every load ends, no lock is exceeded or held in part, and no slot is idle that the first in line could use", () => {
  let waits = 0;
  fc.assert(
    fc.property(loads, (load) => {
      const random = chance(load[1]);
      const coming = waiters(load);
      let line: Waiter[] = [];
      let running: Waiter[] = [];
      for (let rounds = 0; coming.length + line.length + running.length > 0; rounds += 1) {
        assert.ok(rounds < 500, "a deadlock");
        line.push(...coming.splice(0, Math.floor(random() * 4)));
        for (let more = true; more; ) {
          const plan = admit({ now: 0, gates: gatesWith(running), line });
          running = [...running, ...plan.admitted];
          line = line.filter((one) => !plan.admitted.includes(one));
          more = plan.more;
        }
        for (const key of NAMES)
          assert.ok(heldAt(running, key) <= (LIMITS[key] as number), `${key} is exceeded`);
        const order = inOrder(line);
        waits += order.length;
        order.forEach((one, index) => {
          const isFirst = one.asks.every(({ gate }) =>
            order.slice(0, index).every((other) => !keepsPlace(other, gate) || !stands(other, running)),
          );
          const fits = one.asks.every(
            ({ gate, slots }) => heldAt(running, gate) + slots <= (LIMITS[gate] as number),
          );
          assert.ok(
            !(isFirst && fits),
            `${one.id} is first wherever it asks, and waits although all of it is free`,
          );
        });
        running = running.filter(() => random() < 0.6);
      }
      return true;
    }),
    { numRuns: 3_000 },
  );
  expect(waits).toBeGreaterThan(10_000);
});
