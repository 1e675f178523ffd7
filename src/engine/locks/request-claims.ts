/**
 * The claims of a process that holds locks. A pass is needed when the process asks or releases, and with every
 * poll. For a lock that another process has handed over, a read is enough: whoever releases a lock hands it to
 * the first in line, and the hint only says so. So of many processes that wait for one lock, none locks its gate
 * in vain.
 */
import type { Hear } from "../../core/hint.ts";
import { isOfLocks } from "../../core/lock/request.ts";
import type { Env } from "../../env/env.ts";
import type { LaneSpec } from "../../store/lane.ts";
import type { Store } from "../../store/store.ts";
import { isRunQueue } from "../../store/store.ts";
import type { Answer, Claimed, Report, Seat } from "../claiming/claims.ts";
import { StoreClaims } from "../claiming/store-claims.ts";

/** A hint may also mean that a limit was raised. A pass finds out, but not with every hint. */
const LOOK_MS = 250;

export interface Heard {
  /** The store knows that this request is over. */
  readonly arrived: (id: string) => void;
  /** Whether this process waits for a lock. If not, no hint concerns it. */
  readonly waits: () => boolean;
  /** The lane of a request of this process. */
  readonly laneOf: (id: string) => LaneSpec | undefined;
}

export class RequestClaims extends StoreClaims {
  /** One exchange at a time: two of them would only wait for each other at the gate. */
  override readonly atOnce: number = 1;
  protected override readonly looksAround: boolean = true;
  readonly #store: Store;
  readonly #env: Env;
  readonly #heard: Heard;
  /** A read is not enough for the next exchange. */
  #mustPass = true;
  /** A pass is not enough: a hint may have been lost. */
  #mustRead = false;
  #willLook = false;
  #ours = "";
  #begun = 0;
  #waiting: { readonly after: number; resolve(): void }[] = [];
  #hear: Hear = () => {};
  /** The claims that this process knows. */
  readonly #known = new Set<number>();
  /** Lanes of requests that were put in line since the last pass. */
  #fresh = new Set<string>();

  constructor(store: Store, seat: Seat, env: Env, heard: Heard) {
    super(store, seat, env);
    this.#store = store;
    this.#env = env;
    this.#heard = heard;
  }

  override async open(session: string, leaseMs: number): Promise<void> {
    await super.open(session, leaseMs);
    this.#ours = session;
    this.#known.clear();
    this.#mustPass = true;
  }

  /** Requests of these lanes were put in line. */
  asked(lanes: readonly LaneSpec[]): void {
    this.notice(lanes);
    for (const { id } of lanes) this.#fresh.add(id);
    this.#mustPass = true;
  }

  override lookAt(parkedOn: readonly string[]): void {
    super.lookAt(parkedOn);
    this.#mustPass = true;
    this.#mustRead = true;
  }

  override listen(hear: Hear): Promise<() => Promise<void>> {
    this.#hear = hear;
    return super.listen((hint) => {
      if (hint !== "work" || this.#heard.waits()) hear(hint);
    });
  }

  override async exchange(report: Report): Promise<Answer> {
    this.#begun += 1;
    const number = this.#begun;
    try {
      return await this.#exchange(report);
    } finally {
      const over = this.#waiting.filter(({ after }) => after < number);
      this.#waiting = this.#waiting.filter(({ after }) => after >= number);
      for (const { resolve } of over) resolve();
    }
  }

  async #exchange(report: Report): Promise<Answer> {
    const { finished, started, draining, ownTurn } = report;
    if (!this.#mustPass && finished.length + started.length === 0 && !draining && !ownTurn)
      return this.#read();
    const [mustRead, fresh] = [this.#mustRead, this.#fresh];
    this.#mustPass = false;
    this.#mustRead = false;
    this.#fresh = new Set();
    try {
      const answer = await super.exchange(report);
      this.#mustPass ||= answer.more;
      this.#took(report, answer);
      this.#tellIfBlocked(answer, fresh);
      return mustRead ? { ...answer, claimed: [...answer.claimed, ...(await this.#handed())] } : answer;
    } catch (error) {
      this.#mustPass = true;
      throw error;
    }
  }

  #took({ finished }: Report, { claimed }: Answer): void {
    for (const { epoch } of claimed) this.#known.add(epoch);
    for (const { id, epoch } of finished) {
      this.#known.delete(epoch);
      this.#heard.arrived(id);
    }
  }

  async #read(): Promise<Answer> {
    const claimed = await this.#handed();
    if (claimed.length === 0) this.#lookSoon();
    return { now: 0, claimed, started: [], refused: [], more: false, yielded: false, ended: false };
  }

  /** Claims that other processes have made for us. */
  async #handed(): Promise<Claimed[]> {
    const all = await this.#store.claimsOf(this.#ours);
    const fresh = all.filter(({ epoch }) => !this.#known.has(epoch));
    for (const { id, epoch } of fresh) {
      this.#known.add(epoch);
      const lane = this.#heard.laneOf(id);
      if (lane) this.holds(epoch, lane);
    }
    return fresh;
  }

  #lookSoon(): void {
    if (this.#willLook) return;
    this.#willLook = true;
    this.#env.after(LOOK_MS, () => {
      this.#willLook = false;
      if (!this.#heard.waits()) return;
      this.#mustPass = true;
      this.#hear("work");
    });
  }

  /** Workers know the lines of their own tasks. If our requests have to wait in them, the workers must hear of it. */
  #tellIfBlocked({ claimed }: Answer, fresh: ReadonlySet<string>): void {
    const taken = new Set(claimed.map(({ lane }) => lane));
    if ([...fresh].every((lane) => taken.has(lane))) return;
    if (this.others.every((queue) => isOfLocks(queue) || isRunQueue(queue))) return;
    this.#store.hint("work");
    this.#store.hint("runs");
  }

  /** Resolves after an exchange that begins from now on, whatever became of it. */
  exchanged(): Promise<void> {
    this.#mustPass = true;
    return new Promise((resolve) => this.#waiting.push({ after: this.#begun, resolve }));
  }
}
