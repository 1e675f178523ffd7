import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Case } from "../../../test/support/arbitrary-line.ts";
import { chance, laneOf, shuffled, snapshots } from "../../../test/support/arbitrary-line.ts";
import { naiveAdmit } from "../../../test/support/naive-admit.ts";
import type { Mark, Plan, Waiter } from "./admit.ts";
import { admit } from "./admit.ts";
import type { Ask, Gate, Line } from "./gate.ts";
import { draining } from "./gate.ts";
import { compare, inOrder } from "./order.ts";
import type { Reason } from "./reason.ts";
import { gatesNamed } from "./reason.ts";

const CASES = 10_000;

const plain = snapshots();
const all = { frontiers: true, workers: true, horizon: true };
const everything = fc.oneof(
  { arbitrary: snapshots(all), weight: 3 },
  { arbitrary: snapshots({ ...all, tight: true }), weight: 1 },
);

/**
 * Checks the property in each case, and returns the share of cases in which it applied. Bias is off: the
 * numbers are small anyway, and short lines decide little.
 */
function always<T>(cases: fc.Arbitrary<T>, property: (drawn: T) => boolean): number {
  let reached = 0;
  fc.assert(
    fc.property(fc.noBias(cases), (drawn) => {
      if (property(drawn)) reached++;
    }),
    { numRuns: CASES },
  );
  return reached / CASES;
}

function asked(unit: Waiter, gate: string): number {
  return unit.asks.find((ask) => ask.gate === gate)?.slots ?? 0;
}

function sum(units: readonly Waiter[], gate: string): number {
  return units.reduce((total, unit) => total + asked(unit, gate), 0);
}

function gateOf({ gates }: Case, key: string): Gate | undefined {
  return gates.find((gate) => gate.key === key);
}

function isOpen(gate: Gate | undefined): gate is Gate & { limit: number } {
  return gate !== undefined && gate.limit !== null && gate.limit !== 0 && !gate.paused;
}

/** True if all reasons are about slots of strict gates and pools. */
function standsInLine(reasons: readonly Reason[] | undefined, snapshot: Case): boolean {
  return (reasons ?? []).every(
    (reason) =>
      (reason.kind === "full" || reason.kind === "behind") && gateOf(snapshot, reason.gate)?.line !== "skip",
  );
}

function waitingOf(snapshot: Case, plan: Plan): Waiter[] {
  return inOrder(snapshot.line).filter(({ id }) => plan.waiting.has(id));
}

describe("whatever the line and the gates", () => {
  it("no gate goes above its limit, and a gate that is draining, paused or unset gains nothing", () => {
    const atTheLimit = always(everything, (snapshot) => {
      const plan = admit(snapshot);
      for (const gate of snapshot.gates) {
        const held = (plan.held.get(gate.key) as number) + sum(plan.left, gate.key);
        if (!isOpen(gate) || draining(gate)) assert.equal(held, gate.held, `${gate.key} gained slots`);
        else if (gate.limit > 0) assert.ok(held <= gate.limit, `${gate.key}: ${held}/${gate.limit}`);
      }
      return snapshot.gates.some(({ key, limit, held }) => held !== limit && plan.held.get(key) === limit);
    });
    expect(atTheLimit).toBeGreaterThan(0.1);
  });

  it("a unit takes everything it asks for or nothing", () => {
    const several = always(everything, (snapshot) => {
      const plan = admit(snapshot);
      for (const { key, held } of snapshot.gates) {
        assert.equal(plan.held.get(key), held + sum(plan.admitted, key), key);
      }
      const known = new Set(snapshot.gates.map(({ key }) => key));
      for (const unit of [...plan.admitted, ...plan.left]) {
        assert.ok(!plan.waiting.has(unit.id), `${unit.id} both starts and waits`);
        assert.ok(unit.asks.every(({ gate }) => known.has(gate), `${unit.id} passed an unknown gate`));
      }
      return plan.admitted.some(({ asks }) => asks.length > 1);
    });
    expect(several).toBeGreaterThan(0.2);
  });

  it("everybody before the end of the snapshot is decided once, and never the last known of a longer lane", () => {
    const cut = always(everything, (snapshot) => {
      const plan = admit(snapshot);
      const decided = [...plan.admitted, ...plan.left].map(({ id }) => id).concat(...plan.waiting.keys());
      assert.equal(new Set(decided).size, decided.length);
      const shown = inOrder(snapshot.line).filter(({ frontier }) => !frontier);
      const seen = shown.filter(({ id }) => decided.includes(id));
      assert.deepEqual(seen, shown.slice(0, decided.length), "a gap in the line");
      if (!plan.more) assert.equal(decided.length, shown.length);
      return plan.more;
    });
    expect(cut).toBeGreaterThan(0.2);
  });

  it("a waiting unit is never passed by one that took all it wanted", () => {
    const passed = always(plain, (snapshot) => {
      const plan = admit(snapshot);
      assert.deepEqual(plan.admitted, inOrder(plan.admitted), "not in order");
      let overtakes = 0;
      for (const waiter of waitingOf(snapshot, plan)) {
        for (const other of plan.admitted.filter((unit) => compare(unit, waiter) > 0)) {
          overtakes++;
          const covers = waiter.asks.every(({ gate, slots }) => asked(other, gate) >= slots);
          assert.ok(!covers, `${other.id} passed ${waiter.id}, which would have fitted in its stead`);
        }
      }
      return overtakes > 0;
    });
    expect(passed).toBeGreaterThan(0.2);
  });

  it("nobody behind a unit changes what is decided about it", () => {
    const cases = fc.tuple(everything, fc.nat(9));
    const cut = always(cases, ([snapshot, length]) => {
      const order = inOrder(snapshot.line);
      const line = order.slice(0, length);
      const whole = admit(snapshot);
      const part = admit({ ...snapshot, line });
      const kept = new Set(line.map(({ id }) => id));
      assert.deepEqual(
        part.admitted,
        whole.admitted.filter(({ id }) => kept.has(id)),
      );
      assert.deepEqual(
        part.left,
        whole.left.filter(({ id }) => kept.has(id)),
      );
      assert.deepEqual(
        [...part.waiting],
        [...whole.waiting].filter(([id]) => kept.has(id)),
      );
      return whole.admitted.length > part.admitted.length;
    });
    expect(cut).toBeGreaterThan(0.1);
  });

  it("at a strict gate a unit starts exactly when held, those ahead in line and its own fit", () => {
    let starts = 0;
    const heldBack = always(plain, (snapshot) => {
      const plan = admit(snapshot);
      const before: Waiter[] = [];
      const inLine: Waiter[] = [];
      let behind = false;
      for (const unit of inOrder(snapshot.line)) {
        const reasons = plan.waiting.get(unit.id);
        for (const { gate: key, slots } of unit.asks) {
          const gate = gateOf(snapshot, key);
          if (gate?.line !== "strict" || !isOpen(gate) || gate.limit < 0) continue;
          const held = gate.held + sum(before, key);
          const ahead = sum(inLine, key);
          const reason = reasons?.find((one) => "gate" in one && one.gate === key);
          const fits = held + ahead + slots <= gate.limit;
          if (!reasons) assert.ok(fits, `${unit.id} jumped the line at ${key}`);
          if (!reasons && ahead > 0) starts++;
          assert.equal(fits, !reason, `${unit.id} at ${key}`);
          if (reason?.kind === "behind") {
            behind = true;
            assert.ok(held + slots <= gate.limit, `${unit.id} is not only behind at ${key}`);
            assert.equal(reason.front.unit, inLine.find((one) => asked(one, key) > 0)?.id);
          }
        }
        if (!reasons) before.push(unit);
        else if (standsInLine(reasons, snapshot)) inLine.push(unit);
      }
      return behind;
    });
    expect(heldBack).toBeGreaterThan(0.1);
    expect(starts).toBeGreaterThan(CASES / 100);
  });

  it("no slot stays free that somebody waiting may take", () => {
    let gathered = 0;
    const kept = always(plain, (snapshot) => {
      const plan = admit(snapshot);
      const waiting = waitingOf(snapshot, plan);
      let free = false;
      waiting.forEach((unit, index) => {
        const inLine = waiting
          .slice(0, index)
          .filter(({ id }) => standsInLine(plan.waiting.get(id), snapshot));
        const reasons = plan.waiting.get(unit.id) as readonly Reason[];
        const blocked = unit.asks.some(({ gate: key, slots }) => {
          const gate = gateOf(snapshot, key);
          if (!isOpen(gate)) return true;
          if (gate.limit < 0) return false;
          const held = plan.held.get(key) as number;
          if (held + slots > gate.limit) return true;
          free = true;
          if (gate.line === "strict") return held + sum(inLine, key) + slots > gate.limit;
          const reason = reasons.find((one) => one.kind === "behind" && one.gate === key);
          if (gate.line === "skip" || reason?.kind !== "behind") return false;
          const front = waiting.slice(0, index).find(({ id }) => id === reason.front.unit);
          assert.ok(front && isOver(front, snapshot), `${key} is kept for ${reason.front.unit} without need`);
          gathered++;
          return held + asked(front, key) + slots > gate.limit;
        });
        assert.ok(blocked, `${unit.id} waits and could start`);
      });
      return free;
    });
    expect(kept).toBeGreaterThan(0.2);
    expect(gathered).toBeGreaterThan(CASES / 50);
  });

  it("decision, reasons and marks are those of the slow and obvious walk", () => {
    const kinds = new Map<string, number>();
    const reserved = always(everything, (snapshot) => {
      const { free, unseen, ...plan } = admit(snapshot);
      expect(unseen.size).toBe(0);
      for (const { key, limit, paused } of snapshot.gates) {
        if (limit === null || paused || limit < 0) continue;
        expect(free.get(key)).toBeLessThanOrEqual(Math.max(0, limit - (plan.held.get(key) ?? 0)));
      }
      const expected = naiveAdmit(snapshot);
      if (!isDeepStrictEqual(plan, expected)) assert.deepEqual(plan, expected);
      const all = [...plan.waiting.values()].flat();
      for (const kind of new Set(all.map((reason) => reason.kind))) {
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }
      return all.some(
        (reason) => reason.kind === "behind" && gateOf(snapshot, reason.gate)?.line === "bypass",
      );
    });
    expect(reserved).toBeGreaterThan(0.01);
    const often = ["full", "behind", "paused", "unset", "never", "busy", "noWorker"];
    for (const kind of often) expect(kinds.get(kind) ?? 0, kind).toBeGreaterThan(CASES / 50);
  });

  it("the order of the input does not matter", () => {
    const cases = fc.tuple(everything, fc.integer());
    const moved = always(cases, ([snapshot, seed]) => {
      const random = chance(seed);
      const line = shuffled(snapshot.line, random);
      const gates = shuffled(snapshot.gates, random);
      const plan = admit(snapshot);
      const other = admit({ ...snapshot, line, gates });
      if (!isDeepStrictEqual(plan, other)) assert.deepEqual(other, plan);
      return line.some((unit, index) => unit !== snapshot.line[index]) && plan.waiting.size > 0;
    });
    expect(moved).toBeGreaterThan(0.3);
  });
});

describe("pass after pass, while nothing ends", () => {
  function carriedOut(snapshot: Case, plan: Plan): Case {
    const { me, workers } = snapshot;
    const ids = new Set(plan.admitted.map(({ id }) => id));
    return {
      ...snapshot,
      gates: snapshot.gates.map((gate) => ({ ...gate, held: plan.held.get(gate.key) as number })),
      line: snapshot.line
        .filter(({ id }) => !ids.has(id))
        .map((unit) => ({ ...unit, mark: plan.marks.get(unit.lane) ?? unit.mark })),
      ...(workers && {
        workers: workers.map((worker, i) =>
          i === me ? { ...worker, used: worker.used + ids.size } : worker,
        ),
      }),
    };
  }

  /** The last plan, the snapshot it was made from, and the number of plans before it. */
  function lastOf(snapshot: Case): { plan: Plan; of: Case; before: number } {
    let of = snapshot;
    let plan = admit(of);
    let before = 0;
    for (; plan.more; before++) {
      assert.ok(plan.admitted.length > 0, "more to admit, though nothing changes");
      of = carriedOut(of, plan);
      plan = admit(of);
    }
    return { plan, of, before };
  }

  it("there is soon no more to admit, and then there is indeed no more", () => {
    const never = { passes: Number.POSITIVE_INFINITY, ms: Number.POSITIVE_INFINITY };
    const again = always(snapshots({ tight: true }), (snapshot) => {
      const { plan, of, before } = lastOf({ ...snapshot, bypass: never });
      assert.deepEqual(admit(carriedOut(of, plan)).admitted, []);
      return before > 0;
    });
    expect(again).toBeGreaterThan(0.001);
  });

  it("there is soon no more to admit for one of several workers, though the others take nothing", () => {
    const cases = snapshots({ tight: true, workers: true }).filter(({ me }) => me !== undefined);
    const again = always(cases, (snapshot) => lastOf(snapshot).before > 0);
    expect(again).toBeGreaterThan(0.0005);
  });
});

describe("lifting what a reason names", () => {
  const withOneWaiting = fc.tuple(plain, fc.nat(9));

  function pick(snapshot: Case, plan: Plan, which: number): Waiter | undefined {
    const waiting = waitingOf(snapshot, plan);
    return waiting[which % waiting.length];
  }

  it("a unit that does not ask for what it waits for starts, and would not if it still asked for one of it", () => {
    const tried = always(withOneWaiting, ([snapshot, which]) => {
      const plan = admit(snapshot);
      const unit = pick(snapshot, plan, which);
      if (!unit) return false;
      const named = (plan.waiting.get(unit.id) ?? []).map((reason) => ("gate" in reason ? reason.gate : ""));
      const without = (dropped: readonly string[]): Plan => {
        const asks = unit.asks.filter(({ gate }) => !dropped.includes(gate));
        return admit({
          ...snapshot,
          line: snapshot.line.map((one) => (one === unit ? { ...unit, asks } : one)),
        });
      };
      assert.ok(
        without(named).admitted.some(({ id }) => id === unit.id),
        `${unit.id} still waits`,
      );
      for (const needed of named) {
        const plan = without(named.filter((gate) => gate !== needed));
        assert.ok(plan.waiting.has(unit.id), `${needed} was not in the way of ${unit.id}`);
      }
      return named.length > 1;
    });
    expect(tried).toBeGreaterThan(0.1);
  });

  it("the first in line starts at once, any other after as many liftings as there are gates at most", () => {
    let behind = 0;
    const often = always(withOneWaiting, ([snapshot, which]) => {
      let plan = admit(snapshot);
      const first = waitingOf(snapshot, plan)[0];
      const unit = pick(snapshot, plan, which);
      if (!first || !unit) return false;
      const lifted = new Set<string>();
      let rounds = 0;
      while (plan.waiting.has(unit.id)) {
        const reasons = plan.waiting.get(unit.id) ?? [];
        if (reasons.some(({ kind }) => kind === "behind")) behind++;
        const named = gatesNamed(reasons);
        assert.ok(
          [...named].some((key) => !lifted.has(key)),
          "nothing new was named",
        );
        for (const key of named) lifted.add(key);
        plan = admit({ ...snapshot, gates: lift(snapshot.gates, lifted) });
        rounds++;
        if (unit === first) break;
      }
      assert.ok(
        plan.admitted.some(({ id }) => id === unit.id),
        `${unit.id} still waits`,
      );
      assert.ok(rounds <= 4);
      return rounds > 1;
    });
    expect(often).toBeGreaterThan(0.02);
    expect(behind).toBeGreaterThan(CASES / 20);
  });

  function lift(gates: readonly Gate[], lifted: ReadonlySet<string>): Gate[] {
    const untouched = gates.filter(({ key }) => !lifted.has(key));
    const open = [...lifted].map((key): Gate => {
      const gate = gates.find((one) => one.key === key);
      return { key, limit: -1, paused: false, line: gate?.line ?? "skip", held: gate?.held ?? 0 };
    });
    return [...untouched, ...open];
  }
});

function isOver(unit: Waiter, { now, bypass }: Case): boolean {
  const { passed, since } = unit.mark?.unit === unit.id ? unit.mark : { passed: 0, since: now };
  return passed >= bypass.passes || now - since >= bypass.ms;
}

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
