/** Locks in plain code: a mutex, a semaphore or a pool that a program holds while it does something. */
import { hostname } from "node:os";
import { SluiceError } from "../core/error.ts";
import { checkKey, noKey } from "../core/gate/check-key.ts";
import { DEFAULT_NAMESPACE, familyOf, mutexKey, poolKey, semaphoreKey } from "../core/gate/key.ts";
import { checkLock } from "../core/gate/lock.ts";
import { checkNumber, PRIORITIES } from "../core/number.ts";
import { checkText, shortly } from "../core/text.ts";
import type { Duration } from "../core/time.ts";
import { parseDuration } from "../core/time.ts";
import type { Asking, LockDesk } from "../engine/locks/lock-desk.ts";
import type { Permit } from "../engine/locks/permit.ts";
import type { StopOptions } from "../engine/service.ts";
import type { Env } from "../env/env.ts";
import { closed, Lifetime } from "../store/lifetime.ts";
import type { Store } from "../store/store.ts";
import type { OptionNames } from "./call-options.ts";
import { checkSignal, knownOptions } from "./call-options.ts";
import type { LargeAsks } from "./large-asks.ts";

export interface TryAcquireOptions {
  /** Higher priorities come first in the line. Default: 0. */
  readonly priority?: number;
  /** Ends the wait. It has no effect on a lock that is held. */
  readonly signal?: AbortSignal;
  /**
   * Who holds the lock, as people see it; default: host and process. Calls of this client that name the same holder
   * share one permit, so a holder never waits for itself.
   */
  readonly holder?: string;
}

export interface AcquireOptions extends TryAcquireOptions {
  /** How long to wait. Then the call fails with LOCK_TIMEOUT. Default: without end. */
  readonly timeout?: Duration;
}

/** For locks that have several slots. */
export interface SlotOptions {
  /** How many slots to hold. Default: 1. */
  readonly slots?: number;
}

/** A lock by its name. Nothing happens in the store until it is asked for. */
export interface LockHandle<Slots = SlotOptions> {
  /** Waits for the lock. Higher priorities and earlier requests come first. */
  acquire(options?: AcquireOptions & Slots): Promise<Permit>;
  /** Undefined if the lock cannot be had at once. */
  tryAcquire(options?: TryAcquireOptions & Slots): Promise<Permit | undefined>;
}

/** A mutex has one slot. */
export type Mutex = LockHandle<unknown>;

export interface LockName {
  /** Equal names of two namespaces are two locks. Default: "default". */
  readonly namespace?: string;
}

export interface LockSettings {
  /** How long a lock stays with a process that died or is cut off. Default: 15s. */
  readonly lease?: Duration;
}

const OF_TRY: OptionNames<TryAcquireOptions> = { priority: true, signal: true, holder: true };
const OF_ACQUIRE: OptionNames<AcquireOptions> = { ...OF_TRY, timeout: true };
const OF_SETTINGS: OptionNames<LockSettings> = { lease: true };

const OF_NAME: OptionNames<LockName> = { namespace: true };
const NO_FAMILY = 'It stands for every value, so no program can hold it. Name one value, like "tenant=acme".';

const LEASE = "15s";
/** Below this, a short pause of the process would cost it its locks. */
const SHORTEST_LEASE_MS = 500;
const LONGEST_HOLDER = 120;

type Given = AcquireOptions & SlotOptions;

/** The locks of one client. Their machinery is loaded and started with the first request. */
export class CodeLocks {
  readonly #store: Store;
  readonly #env: Env;
  readonly #leaseMs: number;
  readonly #large: LargeAsks;
  readonly #life = new Lifetime();
  #desk: Promise<LockDesk> | undefined;

  constructor(store: Store, env: Env, settings: LockSettings, large: LargeAsks) {
    this.#store = store;
    this.#env = env;
    this.#leaseMs = leaseOf(settings);
    this.#large = large;
  }

  named(kind: "mutex" | "semaphore", name: string, options: LockName): LockHandle {
    const { namespace = DEFAULT_NAMESPACE } = knownOptions(`${kind} ${shortly(name)}`, options, OF_NAME);
    checkLock(`sluice.${kind}`, { kind, name, namespace, slots: 1 }, DEFAULT_NAMESPACE);
    const isMutex = kind === "mutex";
    return this.#lock((isMutex ? mutexKey : semaphoreKey)(name, namespace), !isMutex);
  }

  pool(name: string): LockHandle {
    checkText("The name of a pool", name);
    if (familyOf(poolKey(name)) === null && name.includes("=")) throw noKey(poolKey(name), NO_FAMILY);
    return this.#lock(poolKey(name), true);
  }

  /** `slotted` tells whether a caller may ask for several slots. */
  #lock(gate: string, slotted: boolean): LockHandle {
    checkKey(gate);
    const fields = slotted ? { slots: true } : {};
    const asking = (given: Given, names: object): Asking =>
      askingOf(gate, knownOptions(gate, given, { ...names, ...fields } as OptionNames<Required<Given>>));
    return {
      acquire: async (given = {}) => {
        const asked = asking(given, OF_ACQUIRE);
        await this.#large.refuse([asked]);
        return (await this.#open()).acquire(asked);
      },
      tryAcquire: async (given = {}) => {
        const asked = asking(given, OF_TRY);
        await this.#large.refuse([asked]);
        return (await this.#open()).tryAcquire(asked);
      },
    };
  }

  async close(options: StopOptions): Promise<void> {
    await this.#life.close(async () => {
      await (await this.#desk)?.close(options);
    });
  }

  #open(): Promise<LockDesk> {
    if (this.#life.isOver) throw closed();
    this.#desk ??= import("../engine/locks/lock-desk.ts").then(
      ({ LockDesk: Desk }) => new Desk(this.#store, this.#env, { leaseMs: this.#leaseMs }),
    );
    return this.#desk;
  }
}

function askingOf(gate: string, { slots = 1, priority = 0, signal, timeout, holder }: Given): Asking {
  if (!Number.isSafeInteger(slots) || slots < 1)
    throw new SluiceError(
      "BAD_SLOTS",
      `${gate}: slots must be a whole number of at least 1, but is ${shortly(String(slots))}.`,
    );
  checkNumber("BAD_PRIORITY", `${gate}: priority`, priority, PRIORITIES);
  checkSignal(gate, signal);
  if (holder !== undefined) checkText(`${gate}: holder`, holder, LONGEST_HOLDER);
  const timeoutMs = timeout === undefined ? undefined : parseDuration(timeout);
  const label = holder ?? `${hostname()}:${process.pid}`.slice(-LONGEST_HOLDER);
  return { gate, slots, priority, label, holder, signal, timeoutMs };
}

function leaseOf(settings: LockSettings): number {
  const { lease = LEASE } = knownOptions("connect: locks", settings, OF_SETTINGS);
  const leaseMs = parseDuration(lease);
  if (leaseMs >= SHORTEST_LEASE_MS) return leaseMs;
  throw new SluiceError("BAD_LEASE", `connect: the lease of locks must be at least 500ms, but is ${lease}.`);
}
