/**
 * Where plain code asks for locks. The desk opens with the first request: then it has a session in the store,
 * and a poll. It closes when nothing was held or wanted for a while.
 */
import { SluiceError } from "../../core/error.ts";
import { gateTitle } from "../../core/gate/kind.ts";
import { LOCKS, requestName } from "../../core/lock/request.ts";
import { formatDuration } from "../../core/time.ts";
import { optionsOfRequest } from "../../core/unit-options.ts";
import type { Cancel, Env } from "../../env/env.ts";
import { laneOf } from "../../store/lane.ts";
import { closed } from "../../store/lifetime.ts";
import type { NewTask, Store } from "../../store/store.ts";
import { reasonsOf } from "../claiming/wait.ts";
import type { StopOptions } from "../service.ts";
import { SWEEP_AFTER_MS } from "../tending/tender.ts";
import type { WorkerEvent } from "../worker/worker-event.ts";
import { Book } from "./book.ts";
import { LockExecutor } from "./lock-executor.ts";
import { LockService } from "./lock-service.ts";
import type { Permit } from "./permit.ts";
import { Releases } from "./releases.ts";
import type { Wish } from "./request.ts";
import { Request } from "./request.ts";

export interface Asking extends Wish {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number | undefined;
}

interface DeskOptions {
  readonly leaseMs: number;
}

/** How long the desk stays open without a request. */
const IDLE_MS = 10_000;
/** At its end, the desk sweeps so many times at most. */
const MOST_SWEEPS = 50;
const STAY_MS = 24 * 60 * 60 * 1_000;

export class LockDesk {
  readonly #store: Store;
  readonly #env: Env;
  readonly #options: DeskOptions;
  readonly #process: string;
  readonly #book = new Book();
  readonly #releases = new Releases();
  readonly #executor: LockExecutor;
  #service: LockService | undefined;
  /** The service starts and stops one step after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  #stay: Cancel | undefined;
  #idle: Cancel | undefined;
  #isClosed = false;
  #hasAsked = false;
  #looking: Promise<void> | undefined;

  constructor(store: Store, env: Env, options: DeskOptions) {
    this.#store = store;
    this.#env = env;
    this.#options = options;
    this.#process = env.newId();
    this.#executor = new LockExecutor(
      (id) => this.#book.get(id),
      (request) => {
        this.#book.remove(request);
        this.#rest();
      },
      this.#releases,
      () => env.monotonic(),
    );
  }

  /** Waits for the lock, and resolves with a permit. Rejects if the signal, the timeout or the store ends the wait. */
  acquire(asking: Asking): Promise<Permit> {
    const { signal, timeoutMs } = asking;
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw closed();
      signal?.throwIfAborted();
      let cancel: Cancel = () => {};
      const over = (): void => {
        cancel();
        signal?.removeEventListener("abort", aborted);
      };
      const caller = {
        granted: (permit: Permit): void => {
          over();
          resolve(permit);
        },
        refused: (error: unknown): void => {
          over();
          reject(error);
        },
      };
      const request = this.#book.shared(asking) ?? this.#ask(asking);
      const leave = (error: unknown): void => {
        over();
        reject(error);
        if (request.leave(caller)) void this.#withdraw(request);
      };
      const aborted = (): void => leave(signal?.reason);
      signal?.addEventListener("abort", aborted, { once: true });
      if (timeoutMs !== undefined)
        cancel = this.#env.after(timeoutMs, () => leave(tooLong(asking, timeoutMs)), { keepsAlive: true });
      request.join(caller);
    });
  }

  /** The same without waiting: undefined if the lock cannot be had now, or if others are ahead. */
  async tryAcquire(asking: Omit<Asking, "timeoutMs">): Promise<Permit | undefined> {
    if (this.#isClosed) throw closed();
    asking.signal?.throwIfAborted();
    const shared = this.#book.shared(asking);
    if (shared?.isWanted) return undefined;
    const request = shared ?? this.#ask(asking);
    let answer: Permit | undefined;
    let failure: { readonly error: unknown } | undefined;
    request.join({
      granted: (permit) => {
        answer = permit;
      },
      refused: (error) => {
        failure = { error };
      },
    });
    while (request.isWanted) {
      await this.#entered(request);
      if (request.isWanted) await this.#service?.asked();
      if (request.isWanted && (await this.#mustWait(request)) && request.refuse(undefined)) {
        await this.#withdraw(request);
        return undefined;
      }
    }
    if (failure) throw failure.error;
    return answer;
  }

  /** Whoever waits is refused, and whoever holds a lock hears of it by its signal. Nothing stays behind. */
  async close(options: StopOptions = {}): Promise<void> {
    this.#isClosed = true;
    const waiting = this.#book.wanted.map((request) => {
      request.refuse(closed());
      this.#book.dismiss(request.id);
      return request.id;
    });
    await this.#inTurn(async () => {
      await this.#service?.stop({ graceMs: 0, ...options });
      this.#service = undefined;
    });
    if (waiting.length > 0) await this.#store.withdraw(waiting).catch(() => {});
    await this.#sweep();
    this.#stay?.();
    this.#idle?.();
  }

  #ask(wish: Wish): Request {
    const { gate, slots, priority, label, holder } = wish;
    const request = new Request({ gate, slots, priority, label, holder }, this.#env.newId());
    this.#book.add(request);
    this.#awake();
    void this.#enter(request);
    return request;
  }

  readonly #entering = new Map<Request, Promise<void>>();

  /** Resolves when the request is in line or over. */
  #entered(request: Request): Promise<void> {
    return this.#entering.get(request) ?? Promise.resolve();
  }

  #enter(request: Request): Promise<void> {
    const entering = this.#putInLine(request).finally(() => this.#entering.delete(request));
    this.#entering.set(request, entering);
    return entering;
  }

  async #putInLine(request: Request): Promise<void> {
    const { id } = request;
    try {
      await this.#open();
      this.#hasAsked = true;
      const unit = unitOf(id, request.wish, this.#process);
      if (request.isWanted) await this.#store.enqueue([unit]);
      request.inLine();
      this.#service?.wake([unit.lane]);
    } catch (error) {
      if (request.refuse(error)) this.#book.dismiss(id);
    }
    if (request.state === "over") await this.#withdraw(request);
  }

  /** Its unit leaves the line. If that fails, the next poll tries again, and after the end of the session, others do. */
  async #withdraw({ id, wasGranted }: Request): Promise<void> {
    if (wasGranted) return;
    this.#book.dismiss(id);
    await this.#dropUnwanted();
  }

  async #dropUnwanted(): Promise<void> {
    const ids = this.#book.unwanted;
    if (ids.length === 0) return;
    await this.#store.withdraw(ids).then(
      () => this.#book.dismissed(ids),
      () => {},
    );
    // Whoever stood behind them may come first now.
    this.#store.hint("work");
    this.#rest();
  }

  /** True if something other than the next pass stands in its way. */
  async #mustWait({ id }: Request): Promise<boolean> {
    const view = await this.#store.wait(id);
    return view !== undefined && reasonsOf(view).some(({ kind }) => kind !== "busy" && kind !== "noWorker");
  }

  /** Looks which requests are gone from the line: cancelled by somebody, or swept while this process was frozen. */
  #look(): void {
    this.#looking ??= this.#lookOnce()
      .catch(() => {})
      .finally(() => {
        this.#looking = undefined;
      });
  }

  async #lookOnce(): Promise<void> {
    await this.#dropUnwanted();
    const asked = this.#book.inLine.map((request) => ({ request, id: request.id }));
    if (asked.length === 0) return;
    const ended = new Set(await this.#store.ended(asked.map(({ id }) => id)));
    const over = asked.filter(({ request, id }) => ended.has(id) && request.state === "waiting");
    if (over.length === 0) return;
    const cancelled = new Set((await this.#store.tasksById([...ended])).map(({ id }) => id));
    for (const { request, id } of over) {
      if (request.state !== "waiting") continue;
      this.#book.remove(request);
      if (cancelled.has(id))
        request.refuse(new SluiceError("CANCELLED", "Somebody cancelled the request for the lock."));
      else this.#askAgain(request);
    }
    this.#rest();
  }

  #askAgain(request: Request): void {
    request.askAgain(this.#env.newId());
    this.#book.add(request);
    void this.#enter(request);
  }

  #watch(event: WorkerEvent): void {
    if (event.kind === "sessionEnded" || event.kind === "storeGone") this.#releases.forgetAll();
    if (event.kind === "sessionEnded") this.#look();
    if (event.kind === "storeGone") this.#storeGone(event.error);
  }

  #storeGone(error: unknown): void {
    for (const request of this.#book.wanted) {
      request.refuse(error);
      this.#book.remove(request);
    }
    void this.#inTurn(async () => this.#shut());
  }

  /** Opens the desk, or waits until it is open. */
  #open(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#service) return;
      if (this.#isClosed) throw closed();
      const service = new LockService(this.#store, this.#env, {
        process: this.#process,
        leaseMs: this.#options.leaseMs,
        executor: this.#executor,
        heard: {
          arrived: (id) => {
            this.#releases.forget(id);
            this.#rest();
          },
          waits: () => this.#book.wanted.length > 0,
          laneOf: (id) => {
            const request = this.#book.get(id);
            return request && unitOf(id, request.wish, this.#process).lane;
          },
        },
        look: () => this.#look(),
        watch: (event) => this.#watch(event),
      });
      await service.start();
      this.#service = service;
    });
  }

  async #shut(): Promise<void> {
    const service = this.#service;
    this.#service = undefined;
    await service?.stop({ graceMs: 0 });
    await this.#sweep();
  }

  /** The session is over, so nobody else uses the lanes of this process. The poll of any process sweeps the rest. */
  async #sweep(): Promise<void> {
    if (!this.#hasAsked) return;
    for (let turn = 0; turn < MOST_SWEEPS; turn += 1)
      if ((await this.#store.sweepRequests(SWEEP_AFTER_MS).catch(() => 0)) === 0) return;
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(step);
    this.#turn = done.catch(() => {});
    return done;
  }

  /** Something is wanted or held: the process stays. */
  #awake(): void {
    this.#idle?.();
    this.#idle = undefined;
    this.#stay ??= this.#env.after(STAY_MS, () => this.#stayOn(), { keepsAlive: true });
  }

  #stayOn(): void {
    this.#stay = undefined;
    if (!this.#isIdle) this.#awake();
  }

  /** A release is over when the store knows of it. */
  get #isIdle(): boolean {
    return this.#book.isEmpty && this.#releases.isEmpty;
  }

  /** If nothing is held or wanted any more, the process may end, and the desk closes after a while. */
  #rest(): void {
    if (!this.#isIdle || this.#isClosed) return;
    this.#stay?.();
    this.#stay = undefined;
    this.#idle?.();
    this.#idle = this.#env.after(IDLE_MS, () => {
      void this.#inTurn(async () => {
        if (this.#isIdle) await this.#shut();
      }).catch(() => {});
    });
  }
}

const unitOf = (id: string, { gate, slots, priority, label }: Wish, process: string): NewTask => {
  const name = requestName(process, label);
  return {
    id,
    name,
    priority,
    lane: laneOf(LOCKS, name, [{ gate, slots }]),
    input: "null",
    options: optionsOfRequest(),
    key: null,
    runAt: null,
    delayMs: null,
    goodUntil: null,
    goodForMs: null,
  };
};

const tooLong = ({ gate }: Wish, timeoutMs: number): SluiceError =>
  new SluiceError(
    "LOCK_TIMEOUT",
    `${gateTitle(gate)} could not be acquired within ${formatDuration(timeoutMs)}.`,
    { details: { gate, timeoutMs } },
  );
