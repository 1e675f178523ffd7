/** Mutexes and semaphores as users see and change them: who holds them, and the line of units that wait. */
import { nearest } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import { checkKey } from "../core/gate/check-key.ts";
import type { Limit } from "../core/gate/gate.ts";
import { draining } from "../core/gate/gate.ts";
import { DEFAULT_NAMESPACE, kindOf } from "../core/gate/key.ts";
import { gateTitle } from "../core/gate/kind.ts";
import { isLock } from "../core/gate/lock.ts";
import { inOrder } from "../core/gate/order.ts";
import { checkBy, checkId, checkText, shortly } from "../core/text.ts";
import { handlerOf } from "../engine/claiming/handler.ts";
import type { Env } from "../env/env.ts";
import { asksOf } from "../store/lane.ts";
import { isRunQueue } from "../store/runs.ts";
import type { GateHolder, Store } from "../store/store.ts";
import { RUNS } from "../store/store.ts";
import type { OptionNames } from "./call-options.ts";
import { knownOptions } from "./call-options.ts";
import type { Limits, LimitView } from "./limits.ts";

export interface LockView {
  /** The key of its gate: `mutex:NAMESPACE/NAME`. */
  readonly key: string;
  readonly limit: Limit;
  /** Where the limit comes from. */
  readonly source: LimitView["source"];
  readonly held: number;
  /** The number of units that wait in line for it. */
  readonly waiting: number;
  readonly paused: boolean;
  readonly draining: boolean;
}

/** A unit that waits for a lock. */
export interface LockWaiter {
  readonly id: string;
  /** Its task, or the workflow of a run. */
  readonly name: string;
  readonly isRun: boolean;
  readonly slots: number;
  readonly priority: number;
  /** When it joined the line. */
  readonly at: number;
  /** True if others may pass it while it waits. */
  readonly skips: boolean;
}

export interface LockInfo extends LockView {
  readonly holders: readonly GateHolder[];
  /** In the order in which they come. */
  readonly line: readonly LockWaiter[];
}

/** Of each queue, as many units are looked at. */
const MOST = 5_000;

export class Locks {
  readonly #store: Store;
  readonly #limits: Limits;
  readonly #env: Env;

  constructor(store: Store, limits: Limits, env: Env) {
    this.#store = store;
    this.#limits = limits;
    this.#env = env;
  }

  async list(): Promise<LockView[]> {
    const [limits, waiting] = await Promise.all([this.#limits.list(), this.#store.waiting()]);
    const units = new Map<string, number>();
    for (const row of waiting)
      for (const { gate } of asksOf(row.asks)) units.set(gate, (units.get(gate) ?? 0) + row.units);
    return limits.filter(({ key }) => isLock(key)).map((view) => lockView(view, units.get(view.key) ?? 0));
  }

  /** `name` is the key of a lock. The namespace may be left out if it is "default". */
  async info(name: string): Promise<LockInfo> {
    const key = await this.#keyOf(name);
    const lock = (await this.list()).find((each) => each.key === key);
    if (!lock) throw await this.#unknown(key);
    const [holders, line] = await Promise.all([this.#store.holders(key), this.line(key)]);
    return { ...lock, holders, line };
  }

  /** Everybody who waits for this gate, in order. */
  async line(key: string): Promise<LockWaiter[]> {
    checkText("The key of a lock", key);
    const waiting = await this.#store.waiting();
    const queues = new Set(waiting.filter(({ asks }) => askFor(asks, key)).map(({ queue }) => queue));
    const lines = await Promise.all([...queues].map((queue) => this.#store.line(queue, MOST)));
    const found = lines.flatMap(({ heads, lanes }) => {
      const asking = new Map(lanes.filter(({ asks }) => askFor(asks, key)).map((lane) => [lane.id, lane]));
      return heads.flatMap((head) => {
        const lane = asking.get(head.lane);
        return lane ? [{ ...head, rank: lane.rank, of: lane }] : [];
      });
    });
    return inOrder(found).map(({ id, priority, at, of }) => {
      const { slots = 1, line } = askFor(of.asks, key) ?? {};
      return { id, name: of.task, isRun: isRunQueue(of.queue), slots, priority, at, skips: line === "skip" };
    });
  }

  /** Sets the limit of a semaphore. It applies until `limits reset`, or until a file says something new. */
  async set(name: string, limit: number, by = "code"): Promise<{ from: Limit; limit: Limit }> {
    const key = await this.#keyOf(name);
    if (kindOf(key) === "mutex" && limit !== 0 && limit !== 1)
      throw new SluiceError("BAD_LIMIT", `${gateTitle(key)} is for one holder. Set 1, or 0 to pause it.`);
    return this.#limits.set(key, limit, by, { isNew: true });
  }

  /**
   * Takes a lock from a holder: a run fails, and a task is cancelled. The code of the holder is aborted, and the lock is
   * free when that code has ended, its process is gone, or its lease has run out. `holder` is needed if there are several.
   */
  async release(name: string, given: Release = {}): Promise<{ key: string; holder: GateHolder }> {
    const { holder, by = "code" } = knownOptions("locks.release", given, OF_RELEASE);
    checkBy(by);
    if (holder !== undefined) checkId(holder);
    const key = await this.#keyOf(name);
    const holders = (await this.#store.holders(key)).filter(
      ({ id }) => holder === undefined || id === holder,
    );
    const [first, ...others] = holders;
    if (!first)
      throw new SluiceError(
        "NOT_HELD",
        holder === undefined
          ? `${gateTitle(key)} is not held.`
          : `${holder} does not hold ${gateTitle(key)}.`,
      );
    if (others.length > 0)
      throw new SluiceError(
        "NOT_HELD",
        `${gateTitle(key)} has ${holders.length} holders. Name one of them.`,
        {
          details: { holders: holders.map(({ id }) => id) },
        },
      );
    if (first.session === RUNS) await this.#fail(first.id, key, by);
    else await this.#store.cancel(first.id, `${by}, who released ${key}`);
    for (const hint of ["cancel", "work", "runs"] as const) this.#store.hint(hint);
    return { key, holder: first };
  }

  async #fail(id: string, key: string, by: string): Promise<void> {
    const message = `${gateTitle(key)} was released by ${by} while this run held it.`;
    const body = JSON.stringify({ name: "Error", code: "LOCK_RELEASED", message });
    const run = await this.#store.task(id);
    const handler = run && handlerOf(run, { to: "failed", body }, () => this.#env.newId());
    await this.#store.failRun(id, body, handler);
  }

  /** A name without a kind is looked up among the known locks. */
  async #keyOf(name: string): Promise<string> {
    checkText("The name of a lock", name);
    const known = (await this.#limits.list()).map(({ key }) => key).filter(isLock);
    if (known.includes(name)) return name;
    const short = isLock(name)
      ? [withNamespace(name)]
      : ["mutex", "semaphore"].map((kind) => withNamespace(`${kind}:${name}`));
    const found = short.filter((key) => known.includes(key));
    const full = ["mutex", "semaphore"].map((kind) => `${kind}:${name}`).filter((key) => known.includes(key));
    const all = [...new Set([...found, ...full])];
    if (all.length > 1)
      throw new SluiceError(
        "UNKNOWN_LOCK",
        `${shortly(name)} may be ${all.join(" or ")}. Write its whole key.`,
      );
    const [only] = all;
    if (only !== undefined) return only;
    if (!isLock(name)) throw await this.#unknown(name);
    const key = name.includes("/") ? name : withNamespace(name);
    checkKey(key);
    return key;
  }

  async #unknown(name: string): Promise<SluiceError> {
    const known = (await this.#limits.list()).map(({ key }) => key).filter(isLock);
    const meant = known.find((key) => key.endsWith(`/${name}`)) ?? nearest(name, known);
    return new SluiceError(
      "UNKNOWN_LOCK",
      `There is no lock ${shortly(name)} in this store.${meant === undefined ? "" : ` Did you mean ${meant}?`}`,
      { remedies: [{ action: "listLocks" }] },
    );
  }
}

interface Release {
  readonly holder?: string;
  readonly by?: string;
}

const OF_RELEASE: OptionNames<Release> = { holder: true, by: true };

/** "mutex:books" is "mutex:default/books". A name with a slash may hold its namespace already. */
const withNamespace = (key: string): string => key.replace(":", `:${DEFAULT_NAMESPACE}/`);

const askFor = (asks: string, key: string) => asksOf(asks).find(({ gate }) => gate === key);

const lockView = ({ key, limit, source, held, paused }: LimitView, waiting: number): LockView => ({
  key,
  limit,
  source,
  held,
  waiting,
  paused,
  draining: draining({ limit, held }),
});
