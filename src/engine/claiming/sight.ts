/**
 * Which lanes a claimer looks at, and which gates it therefore locks. Only a memory of what the last passes saw: a
 * lane that is missing here is found again through the store, so nothing is lost when it is wrong.
 */

import { bounded, most, UNLIMITED } from "../../core/gate/gate.ts";
import { familyOf } from "../../core/gate/key.ts";
import { isWholeLine } from "../../core/gate/kind.ts";
import type { Place } from "../../core/gate/order.ts";
import { compare } from "../../core/gate/order.ts";
import { inByteOrder } from "../../core/text.ts";
import type { LaneSpec } from "../../store/lane.ts";
import { asksOf } from "../../store/lane.ts";
import type { GateRow, LaneRow, Scope, View } from "../../store/store.ts";
import type { Decision } from "./decide.ts";
import { CROWDED } from "./lane-moves.ts";
import { placeOf } from "./snapshot.ts";

/** More lanes than this are not looked at in one pass; the best stand first. */
const MOST_LANES = 64;
const LOOKAHEAD = 32;
const FEW_LANES = 4;
/** Lanes of what finished, beside those; a union in SQLite has at most 500 parts. */
const MOST_FINISHED = 200;
/** What is forgotten here is only read again. */
const MOST_GATES = 10_000;
const ANY = { limit: UNLIMITED, paused: false } as const;

interface Known extends LaneSpec {
  place: Place;
  /** Something of it was admitted, or could have been, when it was last looked at. */
  flows: boolean;
}

const UNKNOWN_PLACE: Place = { rank: 0, priority: Number.MAX_SAFE_INTEGER, at: 0, id: "" };

export class Sight {
  readonly #serves: (lane: LaneSpec) => boolean;
  readonly #lanes = new Map<string, Known>();
  /** Lanes that are none of our business, and stay so until they share a gate with ours that can bind. */
  readonly #aside = new Map<string, LaneSpec>();
  readonly #queues: Set<string>;
  /** Gates as last seen: those that could not bind are shared, all others are locked alone. */
  readonly #gates = new Map<string, GateRow>();
  /** Gates that lanes are parked on. */
  readonly #parkedOn = new Set<string>();
  #lookAtParked = false;

  constructor(queues: readonly string[], serves: (lane: LaneSpec) => boolean) {
    this.#queues = new Set(queues);
    this.#serves = serves;
  }

  /** Lanes that somebody just told us of: newly enqueued, or of units that have just finished. */
  notice(specs: Iterable<LaneSpec>): void {
    for (const spec of specs) {
      this.#queues.add(spec.queue);
      this.#aside.delete(spec.id);
      if (!this.#lanes.has(spec.id)) this.#lanes.set(spec.id, { ...spec, place: UNKNOWN_PLACE, flows: true });
    }
  }

  /** Those of these lanes that are in sight. */
  known(lanes: readonly { readonly id: string }[]): LaneSpec[] {
    return lanes.flatMap(({ id }) => this.#lanes.get(id) ?? []);
  }

  /** Nobody looks at it any more. */
  forget(id: string): void {
    this.#lanes.delete(id);
    this.#aside.delete(id);
  }

  /** Gates that lanes are parked on, as far as the store told: the next look includes them. */
  parkedOn(keys: readonly string[]): void {
    this.#parkedOn.clear();
    for (const key of keys) this.#parkedOn.add(key);
    this.#lookAtParked = keys.length > 0;
  }

  /** More lanes wait than one look shows. */
  get isCrowded(): boolean {
    return this.#lanes.size > CROWDED;
  }

  /** What to look at now; lanes in `always` come first. */
  scope(
    always: ReadonlySet<string>,
    budget: number,
  ): Pick<
    Scope,
    "lanes" | "aside" | "exclusive" | "shared" | "queues" | "lookahead" | "unpark" | "skipLocked"
  > {
    const chosen = this.#choose(always);
    const { exclusive, shared } = this.#locks(chosen);
    const bounds = new Set(exclusive);
    return {
      lanes: chosen.map((lane) => ({ id: lane.id, want: this.#want(lane, chosen.length, budget) })),
      aside: [...this.#aside.keys()],
      exclusive,
      shared,
      queues: [...this.#queues],
      lookahead: LOOKAHEAD,
      unpark: this.#parkedOn.size > 0 ? exclusive.filter((key) => !isWholeLine(key)) : [],
      skipLocked: chosen.some((lane) => asksOf(lane.asks).every(({ gate }) => !bounds.has(gate))),
    };
  }

  /** What has just finished is always looked at: it freed the gates that others may be parked on. */
  #choose(always: ReadonlySet<string>): Known[] {
    const all = [...this.#lanes.values()];
    if (all.length <= MOST_LANES) return all;
    const first = all.filter(({ id }) => always.has(id)).slice(0, MOST_FINISHED);
    const rest = all.filter(({ id }) => !always.has(id)).sort((a, b) => compare(a.place, b.place));
    return [...first, ...rest.slice(0, MOST_LANES)];
  }

  /** As many units as could start, and one more to know that the lane goes on. */
  #want(lane: Known, lanes: number, budget: number): number {
    if (!lane.flows && lanes > FEW_LANES) return 2;
    const bound = asksOf(lane.asks).map(({ gate, slots }) => most(this.#gates.get(gate) ?? ANY, slots));
    return Math.max(1, Math.min(budget, ...bound)) + 1;
  }

  #locks(lanes: readonly Known[]): { exclusive: string[]; shared: string[] } {
    const keys = new Set(lanes.flatMap(({ asks }) => asksOf(asks).map(({ gate }) => gate)));
    if (this.#lookAtParked) for (const key of this.#parkedOn) keys.add(key);
    this.#lookAtParked = false;
    const exclusive: string[] = [];
    const shared = new Set<string>();
    for (const key of keys) {
      if (this.#isUnlimited(key)) shared.add(key);
      else exclusive.push(key);
      const family = familyOf(key);
      if (family && !keys.has(family)) shared.add(family);
    }
    return { exclusive: exclusive.sort(inByteOrder), shared: [...shared].sort(inByteOrder) };
  }

  /** After a pass: what was seen replaces what was believed. True when a lane came into sight, or its place did. */
  learn(view: View, scope: Scope, decision: Decision): boolean {
    if (this.#gates.size > MOST_GATES) this.#gates.clear();
    for (const gate of view.gates) this.#gates.set(gate.key, gate);
    const seen = new Map(view.lanes.map((lane) => [lane.id, lane]));
    for (const { id } of scope.lanes) if (!seen.has(id)) this.#lanes.delete(id);
    const moved = new Map(decision.moves.lanes.map((move) => [move.lane, move.state]));
    for (const { parked } of decision.moves.lanes) if (parked) this.#parkedOn.add(parked);
    const flowing = new Set([...decision.plan.admitted, ...decision.plan.left].map(({ lane }) => lane));
    const waiting = new Set(view.heads.map(({ lane }) => lane));
    for (const lane of view.lanes) {
      const state = moved.get(lane.id) ?? lane.state;
      if (state !== "open") this.#lanes.delete(lane.id);
      else this.#remember(lane, flowing.has(lane.id) || !waiting.has(lane.id));
    }
    const fresh = view.beyond.some(
      ({ id }) => (this.#lanes.get(id)?.place ?? UNKNOWN_PLACE) === UNKNOWN_PLACE,
    );
    for (const lane of [...view.beyond, ...decision.unread]) this.#remember(lane, true);
    this.#setAside();
    this.#forgetTheLast();
    return fresh;
  }

  /** What stands far back is found again through the store when its turn comes. */
  #forgetTheLast(): void {
    if (this.#lanes.size <= 4 * MOST_LANES) return;
    const inOrder = [...this.#lanes.values()].sort((a, b) => compare(a.place, b.place));
    for (const { id } of inOrder.slice(2 * MOST_LANES)) this.#lanes.delete(id);
  }

  #isUnlimited(key: string): boolean {
    const gate = this.#gates.get(key);
    return gate !== undefined && !bounded(gate);
  }

  #remember(lane: LaneRow, flows: boolean): void {
    const { id, queue, task, asks } = lane;
    this.#lanes.set(id, { id, queue, task, asks, place: placeOf(lane), flows });
  }

  /** Lanes that we neither serve nor compete with at any gate that can bind. */
  #setAside(): void {
    const ours = new Set<string>();
    for (const lane of this.#lanes.values()) {
      if (this.#serves(lane))
        for (const { gate } of asksOf(lane.asks)) if (!this.#isUnlimited(gate)) ours.add(gate);
    }
    const concerns = (lane: LaneSpec): boolean =>
      this.#serves(lane) || asksOf(lane.asks).some(({ gate }) => ours.has(gate));
    for (const lane of this.#aside.values()) if (concerns(lane)) this.#aside.delete(lane.id);
    for (const lane of this.#lanes.values()) {
      if (concerns(lane)) continue;
      this.#aside.set(lane.id, lane);
      this.#lanes.delete(lane.id);
    }
  }
}
