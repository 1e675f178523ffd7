/** Claiming on a store: each exchange is one pass, decided here and written there. */
import type { LaneSpec } from "../../store/lane.ts";
import type { Moves, Passed, Scope, Store, View } from "../../store/store.ts";
import { RUNS } from "../../store/store.ts";
import type { Answer, Claimed, Claims, Report, Seat } from "./claims.ts";
import type { Decision } from "./decide.ts";
import { decide } from "./decide.ts";
import { doesServe, servesText } from "./serving.ts";
import { Sight } from "./sight.ts";

/** Between two of these, PostgreSQL may walk over some hundred dead index entries; that costs little. */
const REHEAD_EVERY = 8;
/** A pass that takes so many at once corrects the head every time. */
const LONG = 64;

const HALVES_FROM = 100;

const INTAKE_EVERY = 16;
const FEW_ARRIVALS = 32;

export class StoreClaims implements Claims {
  readonly #store: Store;
  readonly #seat: Seat;
  readonly #sight: Sight;
  /** The lanes of our own claims, so that what they free is looked at first. */
  readonly #laneOf = new Map<string, LaneSpec>();
  readonly #serves: string;
  readonly atOnce: number;
  #session = "";
  readonly #offered = new Set<string>();
  #lookBeyond = false;
  #passes = 0;

  constructor(store: Store, seat: Seat) {
    this.#store = store;
    this.#seat = seat;
    // From so many slots on, one half runs here while the store has the other. A store in this process has no "while".
    this.atOnce = seat.slots >= HALVES_FROM && (store.kind === "postgres" || store.kind === "mysql") ? 2 : 1;
    this.#serves = servesText(seat.queues, seat.tasks);
    this.#sight = new Sight(seat.queues, (lane) => doesServe(this.#serves, lane));
  }

  async open(session: string, leaseMs: number): Promise<void> {
    const { name, slots } = this.#seat;
    await this.#store.openSession({ id: session, name, slots, serves: this.#serves, leaseMs });
    this.#session = session;
    this.#laneOf.clear();
  }

  /** Claims in the name of a session that is there already. */
  speakFor(session: string): void {
    this.#session = session;
  }

  /** Something of these lanes has ended elsewhere: what they freed is looked at first. */
  notice(lanes: readonly LaneSpec[]): void {
    this.#sight.notice(lanes);
  }

  /** These claims are not ours to finish. */
  forget(claims: readonly { readonly id: string }[]): void {
    for (const { id } of claims) this.#laneOf.delete(id);
  }

  renew(leaseMs: number): Promise<boolean> {
    return this.#store.renewSession(this.#session, leaseMs);
  }

  async exchange(report: Report): Promise<Answer> {
    const scope = this.#scopeFor(report);
    let seen: { view: View; decision: Decision } | undefined;
    const look = (view: View): Moves => {
      const decision = decide(
        view,
        scope,
        this.#seat,
        report,
        this.#passes % REHEAD_EVERY === 0 || scope.lanes.some(({ want }) => want > LONG),
      );
      seen = { view, decision };
      return decision.moves;
    };
    const passed = await this.#store.pass(scope, look);
    return this.#settle(report, scope, passed, seen as { view: View; decision: Decision });
  }

  #scopeFor(report: Report): Scope {
    this.#passes += 1;
    if (report.hinted || report.finished.length > 0) this.#sight.stir();
    const finished = report.finished.flatMap(({ id }) => this.#laneOf.get(id) ?? []);
    // In soft mode the lanes of our own waiting claims are always looked at, too: they may start now.
    const always = this.#seat.prefetch > 0 ? [...this.#laneOf.values()] : finished;
    this.#sight.notice(always);
    const free = Math.min(report.appetite, Math.max(0, this.#seat.slots - report.active));
    // Of what may be claimed ahead, only what is not there yet needs to be looked for.
    const ahead = Math.max(0, this.#laneOf.size - report.active - report.finished.length);
    const budget = report.draining ? 0 : free + Math.max(0, this.#seat.prefetch - ahead);
    const sight = this.#sight.scope(new Set(always.map(({ id }) => id)), budget);
    return {
      ...sight,
      session: this.#session,
      finished: report.finished,
      started: report.started,
      skipLocked: sight.skipLocked && this.#passes % REHEAD_EVERY !== 0,
      prefetching: this.#seat.prefetch > 0 ? free + 1 : 0,
      // Without a hint nothing new can be in line; now and then we look anyway.
      intake: report.hinted || this.#lookBeyond || this.#sight.isCrowded || this.#passes % INTAKE_EVERY === 0,
    };
  }

  #settle(
    report: Report,
    scope: Scope,
    passed: Passed,
    { view, decision }: { view: View; decision: Decision },
  ): Answer {
    this.#sight.learn(view, scope, decision);
    // Few newcomers are looked at right away; of many, the store tells which come first.
    if (passed.arrived.length <= FEW_ARRIVALS) this.#sight.notice(passed.arrived);
    // And where it told of as many as it was asked for, there may be more of them.
    this.#lookBeyond = passed.arrived.length > FEW_ARRIVALS || view.beyond.length >= scope.lookahead;
    for (const { id } of report.finished) this.#laneOf.delete(id);
    const lanes = new Map(view.lanes.map((lane) => [lane.id, lane]));
    for (const { id, lane } of passed.claimed) this.#laneOf.set(id, lanes.get(lane) as LaneSpec);
    const parked = decision.moves.lanes.some(
      (move) => move.parked !== null && move.parked !== lanes.get(move.lane)?.parked,
    );
    if (parked) this.#store.hint("parked");
    if (report.finished.some((one) => "delayMs" in one && one.delayMs > 0)) this.#store.hint("later");
    if (passed.claimed.length + report.finished.length > 0) this.#offered.clear();
    this.#hintOthers(decision.forOthers, passed.arrived);
    return {
      now: passed.now,
      claimed: passed.claimed,
      started: passed.started,
      refused: report.finished.filter(({ id }) => !passed.accepted.has(id)).map(({ id }) => id),
      more:
        (decision.more && this.#moved(passed, view, decision)) ||
        this.#sight.hasNews ||
        passed.arrived.length > 0,
      yielded: decision.yielded,
      ended: decision.ended,
    };
  }

  /** A pass that changed nothing is not repeated at once, however much it could not see. */
  #moved(passed: Passed, view: View, { moves }: Decision): boolean {
    const heads = new Map(view.lanes.map(({ id, head }) => [id, head.id]));
    // A head that was too early may have hidden everybody behind it. Marks, and who is parked where, are no progress.
    const lanes = moves.lanes.some(({ lane, head }) => head !== null && head.id !== heads.get(lane));
    const units = passed.claimed.length + passed.started.length + moves.recover.length + moves.expire.length;
    return units > 0 || lanes;
  }

  /**
   * Said once for the same units: whoever could not take them then is not asked again and again. Who looked for what has
   * arrived while we had it in hand found nothing, and would not look again.
   */
  #hintOthers(units: readonly string[], arrived: readonly LaneSpec[]): void {
    const fresh = units.some((id) => !this.#offered.has(id));
    for (const id of units) this.#offered.add(id);
    if (fresh || arrived.length > 0) this.#store.hint("work");
    if (arrived.some(({ queue }) => queue === RUNS)) this.#store.hint("runs");
  }

  /** Gates that lanes are parked on, as the poll found them: the next exchange looks whether they have room. */
  lookAt(parkedOn: readonly string[]): void {
    this.#sight.parkedOn(parkedOn);
  }

  renewClaims(): Promise<readonly string[]> {
    return this.#store.renewClaims(this.#session);
  }

  held(): Promise<readonly Claimed[]> {
    return this.#store.claimsOf(this.#session);
  }

  async stale(claims: readonly { id: string; epoch: number }[]): Promise<readonly string[]> {
    const gone = await this.#store.stale(claims);
    for (const id of gone) this.#laneOf.delete(id);
    return gone;
  }

  progress(entries: readonly { id: string; epoch: number; value: string }[]): Promise<void> {
    return this.#store.progress(entries);
  }

  note(entries: readonly { id: string; epoch: number; kind: string; data: string }[]): Promise<void> {
    return this.#store.note(entries);
  }

  listen(hear: (hint: string) => void): Promise<() => Promise<void>> {
    return this.#store.listen(hear);
  }

  close(): Promise<void> {
    return this.#store.closeSession(this.#session);
  }
}
