/**
 * Runs the claims. Every claim that starts ends exactly once: it is reported, or it is forgotten because it
 * is no longer ours. The code of a claim that was taken away is told to stop, and its end is reported by
 * epoch.
 */
import { SluiceError } from "../../core/error.ts";
import type { Env } from "../../env/env.ts";
import type { Ending, Executor } from "../../executor/executor.ts";
import type { Answer, Claimed, Claims } from "../claiming/claims.ts";
import { withHandler } from "../claiming/handler.ts";
import { ActiveSlots } from "./active.ts";
import type { JobHost } from "./claimed-job.ts";
import { ClaimedJob } from "./claimed-job.ts";
import type { Holdings, Leased } from "./holdings.ts";
import type { Journal } from "./journal.ts";
import type { Machine } from "./machine.ts";
import type { Marks } from "./marks.ts";
import type { Outbox } from "./outbox.ts";
import { isDraining } from "./state.ts";
import { returned, STOPPED, stopped, verdict } from "./verdict.ts";
import type { Tell } from "./worker-event.ts";
import type { AnswerCall } from "./worker-options.ts";

/** Its collaborators. */
interface RunningParts {
  readonly executor: Executor;
  readonly env: Env;
  readonly holdings: Holdings;
  readonly journal: Journal;
  readonly marks: Marks;
  readonly outbox: Outbox;
  readonly machine: Machine;
  readonly answer: AnswerCall | undefined;
  /** Checked before every start. */
  readonly session: { isTrusted(): boolean };
  readonly tell: Tell;
}

export class Running {
  readonly #parts: RunningParts;
  readonly #beginWithinMs: number;
  readonly #host: JobHost;
  #clock = { storeNow: 0, at: 0 };

  /** `claimLeaseMs` is how long a claim may wait until its code starts. Unbounded if absent. */
  constructor(parts: RunningParts, claimLeaseMs: number | undefined) {
    this.#parts = parts;
    // The rest of the time is for the report to the store, so that a claim does not lapse just after its code
    // has started.
    this.#beginWithinMs = (claimLeaseMs ?? Number.POSITIVE_INFINITY) * 0.75;
    const { answer, journal } = parts;
    this.#host = {
      answer,
      hasBegun: (active) => this.#hasBegun(active),
      progress: ({ id, epoch }, value) => journal.progress(id, epoch, value),
      log: ({ id, epoch }, message, data) => journal.log(id, epoch, message, data),
    };
  }

  /** Takes an answer of the store. No claim in it is older than `askedAt`. */
  take({ now, claimed, started }: Answer, askedAt: number): void {
    const { env, holdings, tell } = this.#parts;
    this.#clock = { storeNow: now, at: env.monotonic() };
    // These were claimed earlier, so they come first in their line.
    for (const id of started) {
      const claim = holdings.takeAhead(id);
      if (claim) this.#begin(claim, true, askedAt);
    }
    for (const claim of claimed) {
      tell({ kind: "claimed", id: claim.id, held: claim.held });
      this.#have(claim, askedAt);
    }
  }

  /** Takes the claims that an unanswered exchange may have brought. They are ours, so they run. */
  adopt(held: readonly Claimed[]): void {
    const { env, holdings, outbox } = this.#parts;
    const reported = outbox.epochs;
    for (const claim of held)
      if (!holdings.knows(claim) && !reported.has(claim.epoch)) this.#have(claim, env.monotonic());
  }

  #have(claim: Claimed, askedAt: number): void {
    const { holdings, machine, outbox } = this.#parts;
    if (isDraining(machine.state)) {
      outbox.add(returned(claim));
      return;
    }
    this.#supersede(claim.id);
    if (claim.held) this.#begin(claim, false, askedAt);
    else holdings.keepAhead(claim);
  }

  /** The task was claimed anew, so any earlier claim we still have was taken away. */
  #supersede(id: string): void {
    const { holdings } = this.#parts;
    holdings.takeAhead(id);
    const before = holdings.running(id);
    if (before) this.#stop(before, CANCELLED);
  }

  #begin(claim: Claimed, marked: boolean, askedAt: number): void {
    const { holdings, machine, session } = this.#parts;
    if (!session.isTrusted()) {
      machine.happened("sessionLost");
      return;
    }
    const active = new ActiveSlots(claim, marked);
    holdings.begin(active);
    void this.#execute(active, askedAt + this.#beginWithinMs);
  }

  async #execute(active: ActiveSlots, beginBy: number): Promise<void> {
    const { executor, journal } = this.#parts;
    let ending: Ending;
    try {
      ending = await executor.run(new ClaimedJob(active, beginBy, this.#host));
    } catch (error) {
      // An executor resolves even if the code throws. If the executor itself fails, only the attempt has
      // failed, not the worker.
      ending = broken(error);
    }
    if (journal.has(active.claim.epoch)) await journal.flush();
    this.#ended(active, ending);
    if (!ending.ok) await Promise.resolve(ending.stopping).catch(() => {});
    this.#stopped(active);
  }

  /** The executor calls this when the code starts. */
  #hasBegun(active: ActiveSlots): void {
    const { env, marks, tell } = this.#parts;
    const { id, name, epoch } = active.claim;
    active.begunAt = env.monotonic();
    tell({ kind: "started", id, name, epoch });
    if (!active.marked) marks.soon();
  }

  #ended(active: ActiveSlots, ending: Ending): void {
    const { env, holdings, outbox, tell } = this.#parts;
    // Aborted and forgotten: the claim is no longer ours, so there is nothing to report.
    if (!holdings.isRunning(active)) return;
    const now = this.#clock.storeNow + (env.monotonic() - this.#clock.at);
    const isStopped = active.abortedFor === STOPPED;
    const judged = verdict(active.claim, ending, { now, random: env.random(), isStopped });
    const finished = withHandler(judged, active.claim, () => env.newId());
    if ("stopping" in finished) holdings.stop(active);
    else holdings.end(active);
    tell({ kind: "finished", id: active.claim.id, to: finished.to });
    outbox.add(finished);
  }

  /** It is no longer ours, but its code has not ended. */
  #stop(active: ActiveSlots, reason: SluiceError): void {
    this.#parts.holdings.stop(active);
    active.abort(reason);
  }

  /** The code of a claim that was taken away has ended. */
  #stopped(active: ActiveSlots): void {
    const { holdings, outbox } = this.#parts;
    if (holdings.stopped(active)) outbox.add(stopped(active.claim));
  }

  /** Lets go of claims that are no longer ours: cancelled, or lapsed before they started. */
  async dropStale(claims: Claims): Promise<void> {
    const { holdings, machine, outbox } = this.#parts;
    const { active: asked, ahead } = holdings;
    const all = [...asked.map(({ claim }) => claim), ...ahead].map(({ id, epoch }) => ({ id, epoch }));
    if (all.length === 0) return;
    const stale = new Set(await claims.stale(all).catch(() => []));
    for (const claim of ahead)
      if (stale.has(claim.id) && holdings.dropAhead(claim)) outbox.add(stopped(claim));
    // By now the same task may run here again under another epoch, which was not asked about.
    for (const active of asked)
      if (stale.has(active.claim.id) && holdings.isRunning(active)) this.#stop(active, CANCELLED);
    if (stale.size > 0) machine.happened("hint");
  }

  /** Claims that have their own lease. */
  get leased(): readonly Leased[] {
    return this.#parts.holdings.leased;
  }

  /** The claim is no longer ours, because its own lease was not renewed in time. */
  lose(claim: Leased, reason: SluiceError): void {
    const { holdings, machine, outbox } = this.#parts;
    if (holdings.dropAhead(claim)) outbox.add(stopped(claim));
    const active = holdings.find(claim);
    if (!active) return;
    active.isLost = true;
    if (holdings.isRunning(active)) this.#stop(active, reason);
    machine.happened("hint");
  }

  /** Claims taken ahead go back to their place in line. */
  giveBack(): void {
    const { holdings, outbox } = this.#parts;
    for (const claim of holdings.takeAllAhead()) outbox.add(returned(claim));
  }

  /** Asks all code to end. Its outcomes are still reported. */
  abortAll(reason: SluiceError): void {
    for (const active of this.#parts.holdings.active) active.abort(reason);
  }

  /** The same if the store is gone: all claims are lost. Claims taken ahead never start. */
  loseAll(reason: SluiceError): void {
    const { holdings } = this.#parts;
    holdings.takeAllAhead();
    for (const active of holdings.active) {
      active.isLost = true;
      this.#stop(active, reason);
    }
  }

  /** Forgets all claims, because none of them is ours any more. */
  forgetAll(reason: SluiceError): void {
    for (const active of this.#parts.holdings.clear()) active.abort(reason);
  }
}

const CANCELLED = new SluiceError("CANCELLED", "The task was cancelled.");

const broken = (error: unknown): Ending => ({
  ok: false,
  error: { name: "Error", message: error instanceof Error ? error.message : "The executor failed." },
  retryable: true,
});
