// Claimers without code on a store with very many lanes. Every pass is counted, so that a spinning claimer is
// detected. Whenever all claimers rest, the whole line is decided at once for comparison: no unit that could
// start may be left.

import type { Mark, Waiter } from "../../src/core/gate/admit.ts";
import { BYPASS } from "../../src/core/gate/admit.ts";
import type { Ask } from "../../src/core/gate/gate.ts";
import { bornAs } from "../../src/core/gate/kind.ts";
import { compare } from "../../src/core/gate/order.ts";
import type { Claimed, Finished } from "../../src/engine/claiming/claims.ts";
import { planOf } from "../../src/engine/claiming/line.ts";
import { StoreClaims } from "../../src/engine/claiming/store-claims.ts";
import { asksOf, laneOf } from "../../src/store/lane.ts";
import type { LaneRow, LineView, NewTask, Store } from "../../src/store/store.ts";

export interface Gated {
  readonly key: string;
  readonly limit: number;
}

/** Units with the same asks in one queue. */
export interface Laned {
  readonly asks: Readonly<Record<string, number>>;
  readonly queue: number;
  readonly priority: number;
  readonly units: number;
}

export const QUEUES = ["q0", "q1"] as const;
const SPIN = 2_000;

export interface Seated {
  readonly slots: number;
  /** Which of the two queues it serves. */
  readonly serves: "both" | "first" | "second";
}

class Claimer {
  readonly claims: StoreClaims;
  readonly held = new Map<string, Claimed>();
  finished: Finished[] = [];
  awake = true;
  /** It left work to others. If nobody has taken it once all others have looked, it takes the work itself. */
  yielded = false;

  constructor(store: Store, { slots, serves }: Seated) {
    const queues = QUEUES.filter(
      (_, index) => serves === "both" || (serves === "first" ? index === 0 : index === 1),
    );
    this.claims = new StoreClaims(store, {
      name: "w",
      slots,
      prefetch: 0,
      claimLeaseMs: 600_000,
      queues,
      tasks: ["t"],
    });
  }
}

export class Player {
  readonly #store: Store;
  readonly #claimers: Claimer[] = [];
  readonly #hints = new Set<string>();
  #enqueued = 0;
  passes = 0;
  claimed = 0;
  succeeded = 0;

  constructor(store: Store) {
    this.#store = watched(store, {
      pass: () => {
        this.passes += 1;
      },
      hint: (hint) => this.#hints.add(hint),
    });
  }

  async sit(seats: readonly Seated[]): Promise<void> {
    for (const [index, seat] of seats.entries()) {
      const claimer = new Claimer(this.#store, seat);
      await claimer.claims.open(`s${index}`, 1_000_000);
      this.#claimers.push(claimer);
    }
  }

  async enqueue(lanes: readonly Laned[]): Promise<void> {
    const tasks = lanes.flatMap((lane) => Array.from({ length: lane.units }, () => this.#task(lane)));
    this.#enqueued += tasks.length;
    await this.#store.enqueue(tasks);
    this.wake();
  }

  #task({ asks, queue, priority }: Laned): NewTask {
    this.#ids += 1;
    const name = QUEUES[queue] as string;
    const all = Object.entries({ cluster: 1, [`queue:${name}`]: 1, ...asks });
    const lane = laneOf(
      name,
      "t",
      all.map(([gate, slots]) => ({ gate, slots })),
    );
    const id = `u${String(this.#ids).padStart(6, "0")}`;
    const never = { key: null, runAt: null, delayMs: null, goodUntil: null, goodForMs: null };
    return { id, name: "t", priority, lane, input: "{}", options: "{}", ...never };
  }
  #ids = 0;

  wake(): void {
    for (const claimer of this.#claimers) claimer.awake = true;
  }

  /** Works as the poll does: finds changes that sent no hint. */
  async poll(): Promise<void> {
    for (let after = "", full = true; full; ) {
      const { parkedOn } = await this.#store.tend(after);
      for (const { claims } of this.#claimers) claims.lookAt(parkedOn);
      this.wake();
      full = parkedOn.length >= 200;
      after = parkedOn.at(-1) ?? "";
      if (full) await this.#rest();
    }
  }

  /**
   * Runs until nobody has anything to do: hints are heard, and a claimer that left work to others looks once
   * more.
   */
  async rest(): Promise<void> {
    await this.#rest();
    for (const claimer of this.#claimers) {
      claimer.yielded = true;
      claimer.awake = true;
    }
    await this.#rest();
  }

  async #rest(): Promise<void> {
    await this.#hear();
    for (let before = this.passes; ; ) {
      const next =
        this.#claimers.find(({ awake, yielded }) => awake && !yielded) ??
        this.#claimers.find(({ awake, yielded }) => awake || yielded);
      if (!next) return;
      const moved = this.claimed;
      next.awake = false;
      await this.#exhaust(next);
      await this.#hear();
      if (this.claimed > moved) before = this.passes;
      if (this.passes - before > SPIN) throw new Error(`${SPIN} passes, and nothing was claimed`);
    }
  }

  async #exhaust(claimer: Claimer): Promise<void> {
    const isOwnTurn = claimer.yielded;
    claimer.yielded = false;
    for (let round = 0; ; round += 1) {
      const { finished } = claimer;
      claimer.finished = [];
      const answer = await claimer.claims.exchange({
        finished,
        started: [],
        active: claimer.held.size,
        appetite: 1_000,
        draining: false,
        hinted: round === 0,
        ownTurn: isOwnTurn && round === 0,
      });
      if (answer.refused.length > 0) throw new Error(`refused: ${answer.refused}`);
      for (const claim of answer.claimed) claimer.held.set(claim.id, claim);
      this.claimed += answer.claimed.length;
      if (answer.yielded) claimer.yielded = true;
      if (!answer.more) return;
      if (round > SPIN) throw new Error(`asked ${SPIN} times, and there is still more`);
    }
  }

  async #hear(): Promise<void> {
    const hints = new Set(this.#hints);
    this.#hints.clear();
    if (hints.has("work")) this.wake();
  }

  /** Ends `part` of what is held, but at least one. */
  finish(part: number): void {
    const all = this.#claimers.flatMap((claimer) =>
      [...claimer.held.values()].map((claim) => ({ claimer, claim })),
    );
    const count = Math.min(all.length, Math.max(1, Math.floor(all.length * part)));
    for (const { claimer, claim } of all.slice(0, count)) {
      const { id, epoch } = claim;
      claimer.held.delete(id);
      claimer.finished.push({ id, epoch, to: "succeeded", body: null, delayMs: 0 });
      claimer.awake = true;
      this.succeeded += 1;
    }
  }

  get left(): number {
    return this.#enqueued - this.succeeded;
  }

  /**
   * Checks that no unit waits that could start, judged by the whole line at once, and that no limit is
   * exceeded. One thing is not promised: whether a unit that was overtaken too often reserves slots of a pool
   * depends on units ahead of it that wait for other gates, and these may be parked out of sight. So it may
   * reserve earlier than the whole line would, and units behind it wait for it.
   */
  async check(): Promise<void> {
    const views: LineView[] = [];
    for (const queue of QUEUES) views.push(await this.#store.line(queue, 100_000));
    const [first] = views as [LineView];
    const plan = planOf({
      ...first,
      lanes: views.flatMap(({ lanes }) => lanes),
      heads: views.flatMap(({ heads }) => heads),
      gates: [...new Map(views.flatMap(({ gates }) => gates).map((gate) => [gate.key, gate])).values()],
    });
    const gates = await this.#store.gates();
    const lanes = new Map(views.flatMap((view) => view.lanes).map((lane) => [lane.id, lane]));
    const gathering = views.flatMap(({ heads, now }) =>
      heads.filter(({ id, lane }) => isOvertaken(lanes.get(lane)?.mark ?? null, id, now)),
    );
    const isKeptOut = (unit: Waiter): boolean =>
      gathering.some((head) => {
        const lane = lanes.get(head.lane) as LaneRow;
        return (
          compare({ rank: lane.rank, ...head }, unit) < 0 && unit.asks.some((ask) => isPoolOf(lane, ask))
        );
      });
    const left = plan.admitted
      .filter((unit) => !isKeptOut(unit))
      .map(({ id, lane, asks, queue }) => {
        const row = views.flatMap(({ lanes }) => lanes).find((each) => each.id === lane);
        const at = asks.map(({ gate, slots }) => {
          const { held, limit } = gates.find(({ key }) => key === gate) ?? {};
          return `${slots} of ${gate} ${held}/${limit}`;
        });
        return {
          id,
          queue,
          at: at.join(", "),
          state: row?.state,
          parked: row?.parked,
          blocked: row?.blocked,
        };
      });
    if (left.length > 0) throw new Error(JSON.stringify(left));
    const over = gates.filter(({ held, limit }) => limit !== null && limit >= 0 && held > limit);
    if (over.length > 0) throw new Error(`limits exceeded: ${JSON.stringify(over)}`);
  }

  /** The IDs of all held units. */
  get running(): string[] {
    return this.#claimers.flatMap(({ held }) => [...held.keys()]).sort();
  }
}

const isOvertaken = (mark: Mark | null, unit: string, now: number): boolean =>
  mark?.unit === unit && (mark.passed >= BYPASS.passes || now - mark.since >= BYPASS.ms);

const isPoolOf = (lane: LaneRow, { gate }: Ask): boolean =>
  bornAs(gate).line === "bypass" && asksOf(lane.asks).some((ask) => ask.gate === gate);

/** The same store, with its passes and hints reported to `watch`. */
function watched(store: Store, watch: { pass: () => void; hint: (hint: string) => void }): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === "hint") return watch.hint;
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name === "pass") watch.pass();
      return value.bind(target);
    },
  });
}
