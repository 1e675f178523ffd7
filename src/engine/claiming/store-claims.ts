/** Claims units of a store. Each exchange is one pass: the decision is made here, and the store writes it. */
import type { EventKind } from "../../core/event.ts";
import type { Hear } from "../../core/hint.ts";
import { isOfLocks } from "../../core/lock/request.ts";
import type { Env } from "../../env/env.ts";
import { hostEnv } from "../../env/host.ts";
import { isDataError, sayCause } from "../../store/data-error.ts";
import type { LaneSpec } from "../../store/lane.ts";
import { isUnreadable } from "../../store/lane.ts";
import type {
  AsideRow,
  LaneRow,
  Moves,
  Passed,
  Recovery,
  Scope,
  Store,
  Swap,
  Swapped,
  View,
} from "../../store/store.ts";
import { isStopped } from "../../store/store.ts";
import type { Answer, Claimed, Claims, Finished, Report, Seat } from "./claims.ts";
import type { Decision } from "./decide.ts";
import { decide } from "./decide.ts";
import { withHandlers } from "./handler.ts";
import { Offers } from "./offers.ts";
import { doesServe, servesText } from "./serving.ts";
import { deciding, reportCarefully, setAside, setAsideLanes, setAsideLost } from "./set-aside.ts";
import { ShortWay } from "./short-way.ts";
import { Sight } from "./sight.ts";

/**
 * Heads are corrected this often. In between, PostgreSQL may walk over a few hundred dead index entries,
 * which costs little.
 */
const REHEAD_EVERY = 8;
/** A pass that wants more units of a lane than this always corrects the heads. */
const LONG = 64;

const HALVES_FROM = 100;

const INTAKE_EVERY = 16;
const FEW_ARRIVALS = 32;

const UNREADABLE = "its asks cannot be read";

/** The view of a pass, and its decision. */
interface Seeing {
  view?: View;
  decision?: Decision;
}

export class StoreClaims implements Claims {
  readonly #store: Store;
  readonly #seat: Seat;
  readonly #sight: Sight;
  readonly #newId: () => string;
  /**
   * The lanes of our own claims by epoch, including claims whose code is stopping. A pass looks first at the
   * lanes of finished claims.
   */
  readonly #laneOf = new Map<number, LaneSpec>();
  readonly #serves: string;
  readonly atOnce: number;
  /** Every pass looks for lanes that it does not know. Otherwise a hint says when there may be some. */
  protected readonly looksAround: boolean = false;
  #session = "";
  readonly #offers: Offers;
  readonly #unreadable = new Map<string, LaneRow>();
  #lookBeyond = false;
  #passes = 0;
  #reheads = false;
  readonly #shortWay: ShortWay | undefined;

  /** `env` makes the IDs of tasks that handle failures, and says how much time has passed. */
  constructor(store: Store, seat: Seat, env: Partial<Pick<Env, "newId" | "monotonic">> = {}) {
    const { newId, monotonic } = { ...hostEnv(), ...env };
    this.#newId = newId;
    this.#store = store;
    const { ports } = store.capabilities;
    this.#shortWay = ports.includes("swaps") ? new ShortWay(seat, monotonic) : undefined;
    this.#seat = seat;
    this.#offers = new Offers(store);
    // With this many slots, one half of the tasks runs here while the store works on the other half. A store
    // in this process cannot overlap.
    this.atOnce = seat.slots >= HALVES_FROM && store.capabilities.passesAtOnce ? 2 : 1;
    this.#serves = servesText(seat.queues, seat.tasks);
    this.#sight = new Sight(seat.queues, (lane) => doesServe(this.#serves, lane));
  }

  async open(session: string, leaseMs: number): Promise<void> {
    const { name, slots } = this.#seat;
    await this.#store.openSession({ id: session, name, slots, serves: this.#serves, leaseMs });
    this.#session = session;
    this.#laneOf.clear();
    this.#shortWay?.forget();
  }

  async retire(): Promise<void> {
    if (this.#session !== undefined) await this.#store.retireSession(this.#session);
  }

  /** Claims in the name of a session that already exists. */
  speakFor(session: string): void {
    this.#session = session;
  }

  /** A unit of these lanes has ended elsewhere, so the slots it freed are looked at first. */
  notice(lanes: readonly LaneSpec[]): void {
    this.#sight.notice(lanes);
  }

  /** A claim that another session has made for us. */
  protected holds(epoch: number, lane: LaneSpec): void {
    this.#laneOf.set(epoch, lane);
  }

  /** The queues that other live sessions serve. */
  protected get others(): readonly string[] {
    return this.#sight.others;
  }

  /** These claims are not ours to finish. */
  forget(claims: readonly { readonly epoch: number }[]): void {
    for (const { epoch } of claims) this.#laneOf.delete(epoch);
  }

  renew(leaseMs: number): Promise<boolean> {
    return this.#store.renewSession(this.#session, leaseMs);
  }

  async exchange(report: Report): Promise<Answer> {
    const swap = this.#shortWay?.propose(report, this.#session, this.#laneOf);
    const answer = swap && (await this.#swap(report, swap));
    return answer ?? this.#wholePass(report);
  }

  /** Takes the short way. Undefined if that changed nothing. */
  async #swap(report: Report, swap: Swap): Promise<Answer | undefined> {
    const lanes = new Map(swap.finished.map(({ epoch }) => [epoch, this.#laneOf.get(epoch) as LaneSpec]));
    const swapped = await this.#store.swap(swap).catch((error: unknown) => {
      this.#shortWay?.forget();
      // The whole pass finds out which data is to blame.
      if (isDataError(error)) return undefined;
      throw error;
    });
    const isComplete = this.#shortWay?.took(swap, swapped);
    if (!swapped) return undefined;
    const specs = new Map([...lanes.values()].map((lane) => [lane.id, lane]));
    for (const { id, epoch } of swap.finished) if (swapped.accepted.has(id)) this.#laneOf.delete(epoch);
    for (const { epoch, lane } of swapped.claimed) this.#laneOf.set(epoch, specs.get(lane) as LaneSpec);
    this.#offers.renew();
    const { claimed } = swapped;
    const begun = new Set(swapped.started);
    // In the order of the line, however the store lists them.
    const started = swap.ahead.flatMap(({ id }) => (begun.has(id) ? [id] : []));
    const now = swapped.now ?? 0;
    if (isComplete) return { now, claimed, started, refused: [], more: false, yielded: false, ended: false };
    return this.#passAfter(report, { ...swapped, started }, [...specs.values()]);
  }

  /** Slots were freed and not filled again, so a whole pass decides about them at once. */
  async #passAfter(
    report: Report,
    { claimed, started, accepted }: Swapped,
    freed: readonly LaneSpec[],
  ): Promise<Answer> {
    const begun = claimed.length + started.length;
    const rest: Report = {
      ...report,
      finished: report.finished.filter(({ id }) => !accepted.has(id)),
      started: [],
      active: report.active + begun,
      appetite: Math.max(0, report.appetite - begun),
      claims: report.claims === undefined ? undefined : Math.max(0, report.claims - claimed.length),
    };
    const answer = await this.#wholePass(rest, freed);
    return {
      ...answer,
      claimed: [...claimed, ...answer.claimed],
      started: [...started, ...answer.started],
    };
  }

  async #wholePass(report: Report, freed: readonly LaneSpec[] = []): Promise<Answer> {
    const scope = this.#scopeFor(report, freed);
    const seeing: Seeing = {};
    try {
      return await this.#pass(report, scope, seeing);
    } catch (error) {
      if (!isDataError(error)) throw error;
      return this.#passCarefully(report, scope, seeing, error);
    }
  }

  async #pass(report: Report, scope: Scope, seeing: Seeing): Promise<Answer> {
    const landed = this.#shortWay?.passBegins(report.hinted);
    try {
      const passed = await this.#store.pass(scope, this.#look(report, scope, seeing));
      const seen = seeing as Required<Seeing>;
      const answer = this.#settle(report, scope, passed, seen);
      landed?.({ ...seen, scope, answer });
      return this.#unreadable.size === 0 ? answer : { ...answer, aside: await this.#setAsideUnreadable() };
    } catch (error) {
      landed?.(undefined);
      throw error;
    }
  }

  #look(report: Report, scope: Scope, seeing: Seeing): (view: View) => Moves {
    return deciding((view) => {
      seeing.view = view;
      const decision = decide(
        view,
        scope,
        this.#seat,
        report,
        this.#reheads || scope.lanes.some(({ want }) => want > LONG),
      );
      seeing.decision = { ...decision, moves: withHandlers(decision.moves, view, this.#newId) };
      return seeing.decision.moves;
    });
  }

  /**
   * Gets the data to blame out of the way and repeats the pass without it. Throws the error again if nothing
   * is found.
   */
  async #passCarefully(report: Report, scope: Scope, { view }: Seeing, error: unknown): Promise<Answer> {
    const { accepted, spoiled } = await reportCarefully(this.#store, scope, this.#newId);
    const refused = report.finished.filter(({ id }) => !accepted.has(id)).map(({ id }) => id);
    const unkept = spoiled.flatMap((each) => (each.kept ? [] : (this.#laneOf.get(each.report.epoch) ?? [])));
    for (const one of report.finished) if (!isStillRunning(one)) this.#laneOf.delete(one.epoch);
    const rest: Report = { ...report, finished: [], ownTurn: true };
    const probing = this.#look(rest, scope, {});
    const lanes = [...this.#sight.known(scope.lanes), ...(view?.lanes ?? [])];
    const distinct = [...new Map(lanes.map((lane) => [lane.id, lane])).values()];
    const aside = [
      ...(await this.#store.takeIn()),
      ...(await Promise.all(unkept.map((lane) => setAside(this.#store, lane, sayCause(error))))),
      ...(await setAsideLost(this.#store, scope, probing)),
      ...(await setAsideLanes(this.#store, distinct, scope, probing)),
    ];
    for (const { id } of aside) this.#sight.forget(id);
    const answer = await this.#pass({ ...rest, started: [] }, this.#scopeFor(rest), {});
    return { ...answer, refused, more: true, aside: [...aside, ...(answer.aside ?? [])] };
  }

  #scopeFor(report: Report, freed: readonly LaneSpec[] = []): Scope {
    this.#passes += 1;
    // Swaps leave the heads behind and look for nothing new.
    const isBehind = this.#shortWay?.wasTaken ?? false;
    this.#reheads = isBehind || this.#passes % REHEAD_EVERY === 0;
    if (report.hinted || report.finished.length + freed.length > 0) this.#sight.stir();
    const finished = [...freed, ...report.finished.flatMap(({ epoch }) => this.#laneOf.get(epoch) ?? [])];
    // With prefetch, the lanes of our own waiting claims are always included: these claims may start now.
    const always = this.#seat.prefetch > 0 ? [...this.#laneOf.values()] : finished;
    this.#sight.notice(always);
    const free = Math.min(report.appetite, Math.max(0, this.#seat.slots - report.active));
    // A pass looks only for the prefetched claims that are still missing.
    const ahead = Math.max(0, this.#laneOf.size - report.active - report.finished.length);
    const missing = Math.max(0, this.#seat.prefetch - ahead);
    const budget = report.draining ? 0 : free + missing;
    const sight = this.#sight.scope(new Set(always.map(({ id }) => id)), budget, missing);
    return {
      ...sight,
      session: this.#session,
      finished: report.finished,
      started: report.started,
      sideBySide: sight.sideBySide && !this.#reheads,
      prefetching: this.#seat.prefetch > 0 ? this.#seat.prefetch + free + 1 : 0,
      // Without a hint, there should be nothing new in line. A hint may be lost, so we also look now and
      // then.
      intake:
        this.looksAround ||
        report.hinted ||
        isBehind ||
        this.#lookBeyond ||
        this.#sight.isCrowded ||
        this.#passes % INTAKE_EVERY === 0,
    };
  }

  #settle(
    report: Report,
    scope: Scope,
    passed: Passed,
    { view, decision }: { view: View; decision: Decision },
  ): Answer {
    this.#sight.learn(view, scope, decision);
    // A few newcomers are looked at right away. If there are many, the store tells which come first.
    if (passed.arrived.length <= FEW_ARRIVALS) this.#sight.notice(passed.arrived);
    // If the store showed as many lanes as it was asked for, there may be more.
    this.#lookBeyond = passed.arrived.length > FEW_ARRIVALS || view.beyond.length >= scope.perQueue;
    for (const one of report.finished) if (!isStillRunning(one)) this.#laneOf.delete(one.epoch);
    const lanes = new Map(view.lanes.map((lane) => [lane.id, lane]));
    const handed = new Set(
      decision.moves.claim.flatMap(({ id, session }) => (session === undefined ? [] : [id])),
    );
    const claimed = passed.claimed.filter(({ id }) => !handed.has(id));
    for (const { epoch, lane } of claimed) this.#laneOf.set(epoch, lanes.get(lane) as LaneSpec);
    // The processes that have got them must hear of it.
    if (claimed.length < passed.claimed.length) this.#store.hint("work");
    for (const lane of view.lanes) if (isUnreadable(lane.asks)) this.#unreadable.set(lane.id, lane);
    if (report.finished.some((one) => "delayMs" in one && one.delayMs > 0)) this.#store.hint("later");
    if ([...report.finished, ...decision.moves.recover].some(isHandled)) this.#store.hint("work");
    if (passed.claimed.length + report.finished.length > 0) this.#offers.renew();
    // A unit whose lane was parked since is offered again.
    for (const { id, lane } of view.heads) if (lanes.get(lane)?.state === "parked") this.#offers.withdraw(id);
    // Nobody else could start our own requests for locks.
    const isOwn = (lane: LaneSpec): boolean => isOfLocks(lane.queue) && doesServe(this.#serves, lane);
    this.#offers.tell(
      decision,
      passed.arrived.filter((lane) => !isOwn(lane)),
    );
    return {
      now: passed.now,
      claimed,
      started: passed.started,
      refused: report.finished
        .filter((one) => !isStopped(one) && !passed.accepted.has(one.id))
        .map(({ id }) => id),
      more:
        (decision.more && hasMoved(passed, view, decision)) ||
        this.#sight.hasNews ||
        passed.arrived.length > 0,
      yielded: decision.yielded,
      ended: decision.ended,
    };
  }

  /** Sets aside lanes whose asks cannot be read. */
  async #setAsideUnreadable(): Promise<AsideRow[]> {
    const lanes = [...this.#unreadable.values()].filter(({ state }) => state !== "aside");
    this.#unreadable.clear();
    for (const { id } of lanes) this.#sight.forget(id);
    return Promise.all(lanes.map((lane) => setAside(this.#store, lane, UNREADABLE)));
  }

  /** Gates with parked lanes, as the poll found them. The next exchange checks whether they have room. */
  lookAt(parkedOn: readonly string[]): void {
    this.#shortWay?.forget();
    this.#sight.parkedOn(parkedOn);
  }

  stopping(): Promise<readonly { readonly id: string; readonly epoch: number }[]> {
    return this.#store.stopping(this.#session);
  }

  renewClaims(): Promise<readonly number[]> {
    return this.#store.renewClaims(this.#session);
  }

  held(): Promise<readonly Claimed[]> {
    return this.#store.claimsOf(this.#session);
  }

  stale(claims: readonly { id: string; epoch: number }[]): Promise<readonly string[]> {
    return this.#store.stale(claims);
  }

  progress(entries: readonly { id: string; epoch: number; value: string }[]): Promise<void> {
    return this.#store.progress(entries);
  }

  note(entries: readonly { id: string; epoch: number; kind: EventKind; data: string }[]): Promise<void> {
    return this.#store.note(entries);
  }

  listen(hear: Hear): Promise<() => Promise<void>> {
    return this.#store.listen(hear);
  }

  close(): Promise<void> {
    return this.#store.closeSession(this.#session);
  }
}

/** The attempt is over but its code still runs, so its slot is still in use. */
const isStillRunning = (finished: Finished): boolean => "stopping" in finished && finished.stopping === true;

/** Its failure has put a task in line. */
const isHandled = (one: Finished | Recovery): boolean => "handler" in one && one.handler !== undefined;

/** True if the pass changed something. If not, it is not repeated at once, even if it could not see everything. */
function hasMoved(passed: Passed, view: View, { moves }: Decision): boolean {
  const heads = new Map(view.lanes.map(({ id, head }) => [id, head.id]));
  // A head that was too early may have hidden everything behind it. Marks and parking are no progress.
  const lanes = moves.lanes.some(({ lane, head }) => head !== null && head.id !== heads.get(lane));
  const units = passed.claimed.length + passed.started.length + moves.recover.length + moves.expire.length;
  return units > 0 || lanes;
}
