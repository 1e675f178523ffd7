/**
 * Chooses the lanes that a claimer looks at, and so the gates that it locks. It is only a memory of the last
 * passes. A lane that is missing here is found again through the store, so an error loses nothing.
 */
import type { Place } from "../../core/gate/order.ts";
import { compare } from "../../core/gate/order.ts";
import { isOfLocks, LOCKS } from "../../core/lock/request.ts";
import type { LaneSpec } from "../../store/lane.ts";
import { asksOf } from "../../store/lane.ts";
import type { LaneRow, Scope, View } from "../../store/store.ts";
import type { Decision } from "./decide.ts";
import { CROWDED } from "./lane-moves.ts";
import { SeenGates } from "./seen-gates.ts";
import { MOST_FOREIGN, queuesServed } from "./serving.ts";
import { placeOf } from "./snapshot.ts";

/** The most lanes that one pass looks at. The best come first. */
const MOST_LANES = 64;
const LOOKAHEAD = 32;
const FEW_LANES = 4;
/** The most further lanes, those of units that finished. A union in SQLite has at most 500 parts. */
const MOST_FINISHED = 200;
/** The most further parked lanes, and the most gates named by the poll. */
const MOST_NEXT = 32;
const MOST_TOLD = 64;
const MOST_ASIDE = 1_000;

interface Known extends LaneSpec {
  place: Place;
  /** A unit of it was admitted, or could have been, at the last look. */
  flows: boolean;
}

const UNKNOWN_PLACE: Place = { rank: 0, priority: Number.MAX_SAFE_INTEGER, at: 0, id: "" };

export class Sight {
  readonly #serves: (lane: LaneSpec) => boolean;
  readonly #lanes = new Map<string, Known>();
  /** Lanes that do not concern us. A lane concerns us once it shares with ours a gate that can bind. */
  readonly #aside = new Map<string, LaneSpec>();
  readonly #queues: Set<string>;
  /** Queues that other live sessions serve. */
  #elsewhere: readonly string[] = [];
  readonly #gates = new SeenGates();
  /** Parked lanes that their gate has room for. */
  #next = new Map<string, Known>();
  /** Lanes looked at since something last happened: another look would show the same. */
  readonly #looked = new Set<string>();
  #unread: ReadonlySet<string> = new Set();
  /** Gates with parked lanes that the poll has named and that are still to be looked at. */
  #told: string[] = [];

  constructor(queues: readonly string[], serves: (lane: LaneSpec) => boolean) {
    this.#queues = new Set(queues);
    this.#serves = serves;
  }

  /**
   * Adds lanes that we have just heard of: newly enqueued ones, or those of units that have just finished.
   */
  notice(specs: Iterable<LaneSpec>): void {
    for (const spec of specs) {
      this.#queues.add(spec.queue);
      this.#aside.delete(spec.id);
      this.#looked.delete(spec.id);
      if (!this.#lanes.has(spec.id)) this.#lanes.set(spec.id, { ...spec, place: UNKNOWN_PLACE, flows: true });
      this.#bringBack(spec);
    }
  }

  /**
   * While a program holds a lock, nothing of its own waits there, so the lanes of those that do were put aside. With
   * its release they concern us: one of them is next.
   */
  #bringBack(spec: LaneSpec): void {
    const isOwn = isOfLocks(spec.queue);
    if (this.#aside.size === 0 || !(isOwn || this.#elsewhere.includes(LOCKS))) return;
    const gates = asksOf(spec.asks).flatMap(({ gate }) => (this.#gates.isUnlimited(gate) ? [] : [gate]));
    for (const lane of [...this.#aside.values()]) {
      if (!(isOwn || isOfLocks(lane.queue)) || !asksOf(lane.asks).some(({ gate }) => gates.includes(gate)))
        continue;
      this.#aside.delete(lane.id);
      this.#lanes.set(lane.id, { ...lane, place: UNKNOWN_PLACE, flows: true });
    }
  }

  get others(): readonly string[] {
    return this.#elsewhere;
  }

  /** The given lanes that are in sight. */
  known(lanes: readonly { readonly id: string }[]): LaneSpec[] {
    return lanes.flatMap(({ id }) => this.#lanes.get(id) ?? []);
  }

  forget(id: string): void {
    this.#lanes.delete(id);
    this.#aside.delete(id);
  }

  /** Gates with parked lanes, as the store listed them. The next look includes them. */
  parkedOn(keys: readonly string[]): void {
    this.#told = [...keys];
    this.stir();
  }

  /** Lanes that held up a decision turned out not to concern us. */
  #cleared = false;

  /** Something has happened, so every lane may be different now. */
  stir(): void {
    this.#looked.clear();
  }

  /** True if there is a lane or a gate that is still to be looked at. */
  get hasNews(): boolean {
    return (
      this.#cleared || this.#told.length > 0 || this.#choose(NOBODY).some(({ id }) => !this.#looked.has(id))
    );
  }

  /** More lanes wait than one look shows. */
  get isCrowded(): boolean {
    return this.#lanes.size > CROWDED;
  }

  /**
   * The lanes and gates to look at now. Lanes in `always` come first. `ahead` is how many units may be claimed ahead of
   * their slots, whatever the gates admit.
   */
  scope(
    always: ReadonlySet<string>,
    budget: number,
    ahead = 0,
  ): Pick<
    Scope,
    | "lanes"
    | "without"
    | "exclusive"
    | "shared"
    | "queues"
    | "perQueue"
    | "parkedOn"
    | "elsewhere"
    | "sideBySide"
  > {
    const chosen = this.#choose(always);
    const told = this.#told.splice(0, MOST_TOLD);
    const { exclusive, shared, keys } = this.#gates.locks(chosen, told);
    const bounds = new Set(exclusive);
    return {
      lanes: chosen.map((lane) => ({ id: lane.id, want: this.#want(lane, chosen.length, budget, ahead) })),
      without: [...this.#aside.keys()],
      exclusive,
      shared,
      queues: [...this.#queues, ...this.#beside()],
      perQueue: LOOKAHEAD,
      parkedOn: keys,
      elsewhere: this.#elsewhere.filter((queue) => !this.#queues.has(queue)),
      sideBySide: chosen.some((lane) => asksOf(lane.asks).every(({ gate }) => !bounds.has(gate))),
    };
  }

  /**
   * Plain code stands in the same lines as everybody else. So whoever claims for it looks at the lanes of all
   * queues that somebody serves, and everybody else at its lanes.
   */
  #beside(): string[] {
    const all = this.#queues.has(LOCKS);
    return this.#elsewhere.filter((queue) => !this.#queues.has(queue) && (all || queue === LOCKS));
  }

  /** Lanes of units that just finished are always included: other lanes may be parked on the gates that they freed. */
  #choose(always: ReadonlySet<string>): Known[] {
    const next = [...this.#next.values()];
    const all = [...this.#lanes.values()].filter(({ id }) => !this.#next.has(id));
    if (all.length <= MOST_LANES) return [...next, ...all];
    const first = all.filter(({ id }) => always.has(id)).slice(0, MOST_FINISHED);
    const rest = all.filter(({ id }) => !always.has(id)).sort((a, b) => compare(a.place, b.place));
    let foreign = 0;
    const best: Known[] = [];
    for (const lane of rest) {
      if (best.length === MOST_LANES) break;
      if (!this.#serves(lane)) foreign += 1;
      if (foreign <= MOST_FOREIGN || this.#serves(lane)) best.push(lane);
    }
    return [...next, ...first, ...best];
  }

  /** The number of units to read: as many as could start, and one more to know whether the lane has more. */
  #want(lane: Known, lanes: number, budget: number, ahead: number): number {
    const queued = Math.max(2, this.#gates.queuedFor(lane));
    if (!lane.flows && lanes > FEW_LANES) return queued;
    return Math.max(queued, Math.min(budget, this.#gates.mostOf(lane) + ahead) + 1);
  }

  /** Updates the memory with the rows that a pass has seen. */
  learn(view: View, scope: Scope, decision: Decision): void {
    this.#gates.learn(view.gates);
    this.#elsewhere = queuesServed(view.sessions);
    const seen = new Map(view.lanes.map((lane) => [lane.id, lane]));
    for (const { id } of scope.lanes) {
      this.#looked.add(id);
      if (!seen.has(id)) this.#lanes.delete(id);
    }
    const moved = new Map(decision.moves.lanes.map((move) => [move.lane, move.state]));
    const flowing = new Set([...decision.plan.admitted, ...decision.plan.left].map(({ lane }) => lane));
    const waiting = new Set(view.heads.map(({ lane }) => lane));
    for (const lane of view.lanes) {
      const state = moved.get(lane.id) ?? lane.state;
      if (state !== "open") this.#lanes.delete(lane.id);
      else this.#remember(lane, flowing.has(lane.id) || !waiting.has(lane.id));
    }
    for (const lane of [...view.beyond, ...decision.unread]) this.#remember(lane, true);
    // These are looked at once more, now that their gates are known.
    for (const { id } of decision.unread) if (!this.#unread.has(id)) this.#looked.delete(id);
    this.#unread = new Set(decision.unread.map(({ id }) => id));
    this.#takeNext(decision.next, decision.again);
    this.#setAside();
    // Nothing behind these lanes was decided. If there are more such lanes than we remember, this is normal
    // and no reason for another pass.
    this.#cleared = this.#aside.size < MOST_ASIDE && view.beyond.some(({ id }) => this.#aside.has(id));
    this.#forgetTheLast();
  }

  /**
   * Takes first the lanes that were not looked at yet. If there is no room for some of them, their gates are
   * looked at once more.
   */
  #takeNext(lanes: readonly LaneRow[], again: readonly string[]): void {
    const fresh = lanes.filter(({ id }) => !this.#looked.has(id));
    const inTurn = [...fresh, ...lanes.filter(({ id }) => this.#looked.has(id))].slice(0, MOST_NEXT);
    this.#next = new Map(inTurn.map((lane) => [lane.id, known(lane, true)]));
    const gates = new Set([...again, ...fresh.slice(MOST_NEXT).map(({ parked }) => parked ?? "")]);
    this.#told.push(...[...gates].filter((gate) => !this.#told.includes(gate)));
  }

  /** Lanes far back are found again through the store when their turn comes. */
  #forgetTheLast(): void {
    if (this.#lanes.size <= 4 * MOST_LANES) return;
    const inOrder = [...this.#lanes.values()].sort((a, b) => compare(a.place, b.place));
    for (const { id } of inOrder.slice(2 * MOST_LANES)) this.#lanes.delete(id);
  }

  #remember(lane: LaneRow, flows: boolean): void {
    this.#lanes.set(lane.id, known(lane, flows));
  }

  /** Puts aside lanes that we do not serve and do not compete with at any gate that can bind. */
  #setAside(): void {
    const ours = new Set<string>();
    for (const lane of this.#lanes.values()) {
      if (this.#serves(lane))
        for (const { gate } of asksOf(lane.asks)) if (!this.#gates.isUnlimited(gate)) ours.add(gate);
    }
    const concerns = (lane: LaneSpec): boolean =>
      this.#serves(lane) || asksOf(lane.asks).some(({ gate }) => ours.has(gate));
    for (const lane of this.#aside.values()) if (concerns(lane)) this.#aside.delete(lane.id);
    for (const lane of this.#lanes.values()) {
      if (concerns(lane)) continue;
      this.#aside.set(lane.id, lane);
      this.#lanes.delete(lane.id);
    }
    for (const id of [...this.#aside.keys()].slice(0, -MOST_ASIDE)) this.#aside.delete(id);
  }
}

const NOBODY: ReadonlySet<string> = new Set();

const known = (lane: LaneRow, flows: boolean): Known => {
  const { id, queue, task, asks } = lane;
  return { id, queue, task, asks, place: placeOf(lane), flows };
};
