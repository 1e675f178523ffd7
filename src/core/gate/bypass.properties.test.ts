import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chance, laneOf } from "../../../test/support/arbitrary-line.ts";
import { always, asked, CASES, sum } from "../../../test/support/many-lines.ts";
import type { Mark, Plan, Waiter } from "./admit.ts";
import { admit } from "./admit.ts";
import type { Ask, Gate, Line } from "./gate.ts";

/** Gates, lines and time. Admitted units run until chance ends them. */
class World {
  now = 0;
  readonly running: Waiter[] = [];
  waiting: Waiter[] = [];
  readonly #marks = new Map<string, Mark>();
  readonly #gates: readonly Omit<Gate, "held">[];
  readonly #random: () => number;
  readonly #bypass: { passes: number; ms: number };
  #born = 0;

  constructor(gates: readonly Omit<Gate, "held">[], bypass: { passes: number; ms: number }, seed: number) {
    this.#gates = gates;
    this.#bypass = bypass;
    this.#random = chance(seed);
  }

  add(asks: readonly Ask[], name = ""): Waiter {
    const id = `${name}${String(this.#born).padStart(6, "0")}`;
    const unit = { id, rank: 1, priority: 0, at: this.#born++, lane: laneOf(asks), asks };
    this.waiting.push(unit);
    return unit;
  }

  held(key: string): number {
    return sum(this.running, key);
  }

  pass(): Plan {
    const gates = this.#gates.map((gate) => ({ ...gate, held: this.held(gate.key) }));
    const line = this.waiting.map((unit) => ({ ...unit, mark: this.#marks.get(unit.lane) }));
    const plan = admit({ now: this.now, gates, line, bypass: this.#bypass });
    for (const [lane, mark] of plan.marks) this.#marks.set(lane, mark);
    this.running.push(...plan.admitted);
    this.waiting = this.waiting.filter(({ id }) => plan.waiting.has(id));
    return plan;
  }

  /** Ends each running unit with this probability, and at least one of them for certain. */
  finish(likelihood: number): void {
    this.now += 1_000;
    const sure = Math.floor(this.#random() * this.running.length);
    const ended = this.running.filter((_, index) => index === sure || this.#random() < likelihood);
    for (const unit of ended) this.running.splice(this.running.indexOf(unit), 1);
  }
}

describe("a large ask under an endless stream of small ones", () => {
  const shapes = (pools: number) =>
    fc.record({
      limits: fc.array(fc.integer({ min: 2, max: 4 }), { minLength: pools, maxLength: pools }),
      large: fc.array(fc.nat(2), { minLength: pools, maxLength: pools }),
      small: fc.array(fc.array(fc.nat(3), { minLength: pools, maxLength: pools }), { maxLength: 2 }),
      passes: fc.oneof({ arbitrary: fc.nat(5), weight: 150 }, { arbitrary: fc.constant(100), weight: 1 }),
      seconds: fc.constantFrom(Infinity, Infinity, Infinity, 3, 60),
      likelihood: fc.constantFrom(0.1, 0.3, 0.6, 0.9),
      seed: fc.integer(),
    });

  for (const pools of [1, 2]) {
    it(`starts within the bound, with ${pools} pool${pools > 1 ? "s" : ""}`, () => {
      let overtaken = 0;
      const reserved = always(
        shapes(pools),
        ({ limits, large, small, passes, seconds, likelihood, seed }) => {
          const keys = limits.map((_, index) => `pool:${index}`);
          const gates = limits.map((limit, i) => ({
            key: keys[i] as string,
            limit,
            paused: false,
            line: "bypass" as const,
          }));
          const wanted = limits.map((limit, i) => Math.min(limit, 2 + (large[i] as number)));
          const asksOf = (slots: readonly number[]): Ask[] =>
            keys.map((gate, i) => ({ gate, slots: slots[i] as number })).filter(({ slots }) => slots > 0);
          const smaller = small.map((slots) =>
            asksOf(slots.map((n, i) => Math.min(n, (wanted[i] as number) - 1))),
          );
          const singles = keys.map((_, only) => asksOf(keys.map((_, i) => (i === only ? 1 : 0))));
          const lanes = [...singles, ...smaller.filter((asks) => asks.length > 0)];
          const most = Math.max(...limits);

          const world = new World(gates, { passes, ms: seconds * 1_000 }, seed);
          const refill = (): void => {
            for (const asks of lanes) {
              const lane = laneOf(asks);
              for (let n = world.waiting.filter((unit) => unit.lane === lane).length; n < most; n++)
                world.add(asks);
            }
          };
          refill();
          world.pass();
          world.waiting = [];
          const big = world.add(asksOf(wanted), "large");
          const since = world.now;
          let overtakes = 0;
          let before: readonly Waiter[] | undefined;
          for (let round = 0; ; round++) {
            assert.ok(round < 5_000, "it never starts");
            refill();
            const mustReserve = round > 0 && (overtakes >= passes || world.now - since >= seconds * 1_000);
            if (mustReserve) before ??= [...world.running];
            const held = new Map(keys.map((key) => [key, world.held(key)]));
            const plan = world.pass();
            if (!plan.waiting.has(big.id)) break;
            assert.ok(
              !before || before.some((unit) => world.running.includes(unit)),
              "its slots were given away",
            );
            for (const unit of plan.admitted) {
              for (const { gate, slots } of unit.asks) held.set(gate, (held.get(gate) as number) + slots);
              const harms = keys.some(
                (key, i) =>
                  asked(unit, key) > 0 && (held.get(key) as number) + asked(big, key) > (limits[i] as number),
              );
              if (harms) overtakes++;
              assert.ok(!(harms && mustReserve), `${unit.id} overtook once more`);
            }
            world.finish(likelihood);
          }
          const slack = limits.reduce((total, limit) => total + limit, 0);
          assert.ok(overtakes <= passes + slack, `overtaken ${overtakes} times`);
          if (overtakes > 0) overtaken++;
          return before !== undefined;
        },
      );
      expect(reserved).toBeGreaterThan(0.4);
      expect(overtaken / CASES).toBeGreaterThan(0.3);
    });
  }
});

describe("when everything that runs ends", () => {
  const worlds = fc.record({
    gates: fc.array(
      fc.tuple(fc.integer({ min: 1, max: 4 }), fc.constantFrom<Line>("skip", "strict", "bypass", "bypass")),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
    units: fc.array(fc.tuple(fc.nat(4), fc.nat(3), fc.nat(3), fc.nat(3)), { minLength: 1, maxLength: 10 }),
    passes: fc.nat(3),
    likelihood: fc.constantFrom(0, 0.2, 0.6),
    seed: fc.integer(),
  });

  it("everything that waits starts: those that reserve never wait for each other", () => {
    let reserved = 0;
    const heldBack = always(worlds, ({ gates, units, passes, likelihood, seed }) => {
      const world = new World(
        gates.map(([limit, line], index) => ({ key: `g${index}`, limit, paused: false, line })),
        { passes, ms: 2_000 },
        seed,
      );
      for (const wants of units) {
        const asks = gates.map(([limit], i) => ({
          gate: `g${i}`,
          slots: Math.min(wants[i] as number, limit),
        }));
        world.add(asks.filter(({ slots }) => slots > 0));
      }
      let behind = false;
      for (let round = 0; world.waiting.length > 0; round++) {
        assert.ok(round <= units.length, "no progress");
        const plan = world.pass();
        assert.ok(world.running.length > 0, "nothing runs, nothing starts");
        for (const reason of [...plan.waiting.values()].flat()) {
          if (reason.kind !== "behind") continue;
          behind = true;
          if (gates[Number(reason.gate.slice(1))]?.[1] === "bypass") reserved++;
        }
        world.finish(likelihood);
      }
      return behind;
    });
    expect(heldBack).toBeGreaterThan(0.2);
    expect(reserved).toBeGreaterThan(CASES / 10);
  });
});
