import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chance } from "../../../test/support/arbitrary-line.ts";
import { fairTake } from "./share.ts";
import type { GateWorker } from "./workers.ts";

const worker = (slots: number, used: number): GateWorker => ({ id: `${used}/${slots}`, slots, used });

describe("the part that a claimer takes of scarce slots", () => {
  it("is all it wants while nobody else is hungry", () => {
    expect(fairTake({ wanted: 7, left: 0, me: worker(8, 1), hungry: [] })).toBe(7);
  });

  it("brings it to its fair part, and leaves the rest to the hungry", () => {
    expect(fairTake({ wanted: 4, left: 0, me: worker(8, 0), hungry: [worker(8, 0)] })).toBe(2);
    expect(fairTake({ wanted: 4, left: 0, me: worker(8, 2), hungry: [worker(8, 0)] })).toBe(1);
    expect(fairTake({ wanted: 4, left: 4, me: worker(8, 0), hungry: [worker(8, 0)] })).toBe(4);
  });

  it("is nothing for a claimer that has its part already", () => {
    expect(fairTake({ wanted: 1, left: 0, me: worker(8, 7), hungry: [worker(8, 0)] })).toBe(0);
  });

  it("goes by the size of the workers", () => {
    expect(fairTake({ wanted: 4, left: 0, me: worker(12, 0), hungry: [worker(4, 0)] })).toBe(3);
    expect(fairTake({ wanted: 4, left: 0, me: worker(4, 0), hungry: [worker(12, 0)] })).toBe(1);
  });

  it("holds nobody back in balance: whoever frees a slot may take it again", () => {
    expect(fairTake({ wanted: 1, left: 0, me: worker(8, 1), hungry: [worker(8, 2)] })).toBe(1);
  });

  it("is never more than wanted, never negative, and whole", () => {
    const some = fc.tuple(fc.nat(20), fc.nat(20)).map(([free, used]) => worker(free + used, used));
    const hungry = fc.tuple(fc.integer({ min: 1, max: 20 }), fc.nat(20));
    const claiming = fc.record({
      wanted: fc.nat(20),
      left: fc.nat(20),
      me: some,
      hungry: fc.array(
        hungry.map(([free, used]) => worker(free + used, used)),
        { maxLength: 5 },
      ),
    });
    fc.assert(
      fc.property(claiming, (drawn) => {
        const take = fairTake(drawn);
        expect(Number.isInteger(take)).toBe(true);
        expect(take).toBeGreaterThanOrEqual(0);
        expect(take).toBeLessThanOrEqual(drawn.wanted);
        if (drawn.hungry.length === 0) expect(take).toBe(drawn.wanted);
      }),
    );
  });
});

describe("workers of any size that share a gate", () => {
  /**
   * Workers claim in turns, each for itself, and their units end by chance. At first one worker holds all
   * slots.
   */
  class Loop {
    readonly used: number[];
    readonly #slots: readonly number[];
    readonly #limit: number;
    readonly #random: () => number;

    constructor(slots: readonly number[], limit: number, seed: number) {
      this.#slots = slots;
      this.#limit = limit;
      this.#random = chance(seed);
      this.used = slots.map(() => 0);
      for (let n = 0, at = 0; n < limit; n++) {
        while (this.used[at] === slots[at]) at++;
        this.used[at] = (this.used[at] as number) + 1;
      }
    }

    free(): number {
      return this.#limit - this.used.reduce((sum, used) => sum + used, 0);
    }

    /** Some units of one worker end, and it claims in the same pass. */
    turn(): void {
      const me = Math.floor(this.#random() * this.used.length);
      const used = this.used[me] as number;
      this.used[me] = used - Math.ceil(this.#random() * used);
      this.claim(me);
    }

    claim(me: number): void {
      const all = this.#slots.map((slots, index) => worker(slots, this.used[index] as number));
      const mine = all[me] as GateWorker;
      const hungry = all.filter((one, index) => index !== me && one.used < one.slots);
      const wanted = Math.min(this.free(), mine.slots - mine.used);
      const room = hungry.reduce((sum, one) => sum + one.slots - one.used, 0);
      const left = Math.min(this.free() - wanted, room);
      this.used[me] = mine.used + fairTake({ wanted, left, me: mine, hungry });
    }
  }

  const loops = fc
    .record({
      slots: fc.array(fc.integer({ min: 1, max: 16 }), { minLength: 2, maxLength: 5 }),
      scarce: fc.double({ min: 0, max: 0.95, noNaN: true }),
      seed: fc.integer(),
    })
    .map(({ slots, scarce, seed }) => {
      const sum = slots.reduce((total, each) => total + each, 0);
      return { slots, limit: Math.max(1, Math.floor(sum * scarce)), sum, seed };
    });

  it("come to parts as large as they are, whoever had the slots first", () => {
    fc.assert(
      fc.property(loops, ({ slots, limit, sum, seed }) => {
        const loop = new Loop(slots, limit, seed);
        for (let turn = 0; turn < 200; turn++) loop.turn();
        slots.forEach((each, me) => {
          const part = Math.ceil((limit * each) / sum);
          expect(loop.used[me], `${loop.used} of ${slots}`).toBeLessThanOrEqual(part);
        });
      }),
    );
  });

  it("leave no slot unused once everybody has had a turn to claim", () => {
    fc.assert(
      fc.property(loops, ({ slots, limit, seed }) => {
        const loop = new Loop(slots, limit, seed);
        for (let turn = 0; turn < 200; turn++) loop.turn();
        for (const me of slots.keys()) loop.claim(me);
        expect(loop.free()).toBe(0);
      }),
    );
  });
});
