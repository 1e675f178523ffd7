/** Pools as users see and change them: how much is held, by whom, for how long, and what waits. */
import { nearest } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import { checkKey } from "../core/gate/check-key.ts";
import type { Limit } from "../core/gate/gate.ts";
import { draining } from "../core/gate/gate.ts";
import { familyOf, kindOf, poolKey } from "../core/gate/key.ts";
import { checkText } from "../core/text.ts";
import type { Duration } from "../core/time.ts";
import { parseDuration } from "../core/time.ts";
import { asksOf } from "../store/lane.ts";
import type { GateInfo, Store } from "../store/store.ts";
import type { OptionNames } from "./call-options.ts";
import { knownOptions } from "./call-options.ts";
import type { GateWaiter, HolderView } from "./gate-users.ts";
import { holdersAt, programsAt } from "./gate-users.ts";
import type { Limits } from "./limits.ts";

export interface PoolView {
  readonly name: string;
  readonly limit: Limit;
  /** The limit in force is the one that its family has for each value. */
  readonly perValue: boolean;
  /** The number of slots held. */
  readonly claimed: number;
  /** The number of units that wait in line for it. */
  readonly pending: number;
  readonly leaseMs: number | null;
  readonly paused: boolean;
  readonly draining: boolean;
}

export interface PoolInfo extends PoolView {
  readonly holders: readonly HolderView[];
  /** Programs that wait for it. Tasks and steps that wait are only counted. */
  readonly waiters: readonly GateWaiter[];
}

export class Pools {
  readonly #store: Store;
  readonly #limits: Limits;

  constructor(store: Store, limits: Limits) {
    this.#store = store;
    this.#limits = limits;
  }

  async list(): Promise<PoolView[]> {
    const [gates, waiting] = await Promise.all([this.#store.gates(), this.#store.waiting()]);
    const pending = new Map<string, number>();
    for (const { asks, units } of waiting)
      for (const { gate } of asksOf(asks)) pending.set(gate, (pending.get(gate) ?? 0) + units);
    return gates
      .filter(({ key }) => kindOf(key) === "pool")
      .map((gate) => poolView(gate, pending.get(gate.key) ?? 0));
  }

  async info(name: string): Promise<PoolInfo> {
    checkPool(name);
    const key = poolKey(name);
    const [pools, holders, waiters] = await Promise.all([
      this.list(),
      holdersAt(this.#store, key),
      programsAt(this.#store, key),
    ]);
    const pool = pools.find((each) => each.name === name);
    if (!pool)
      throw new SluiceError("UNKNOWN_POOL", `There is no pool "${name}" in this store.`, {
        remedies: [{ action: "listPools" }, { action: "makePool", pool: name, limit: 5 }],
      });
    return { ...pool, holders, waiters };
  }

  /**
   * Sets a pool's limit, and its lease if given. Both apply until `limits reset`. Creates a new pool, unless
   * its name looks like a typo of an existing one; `isNew` says that it is not.
   */
  async set(name: string, limit: number, setting: PoolSetting = {}): Promise<{ from: Limit; limit: Limit }> {
    const { lease, by = "code", isNew = false } = knownOptions("pools.set", setting, OF_SETTING);
    checkPool(name);
    if (!isNew) await this.#mustBeNoSlip(name, limit);
    const leaseMs = lease === undefined ? undefined : parseDuration(lease);
    return this.#limits.set(poolKey(name), limit, by, { leaseMs, isNew: true });
  }

  async #mustBeNoSlip(name: string, limit: number): Promise<void> {
    const known = [...(await this.#limits.known())].flatMap((key) =>
      kindOf(key) === "pool" ? [key.slice("pool:".length)] : [],
    );
    const family = familyOf(poolKey(name))?.slice("pool:".length);
    if (known.includes(name) || (family !== undefined && known.includes(family))) return;
    const meant = nearest(name, known);
    if (meant === undefined) return;
    throw new SluiceError(
      "UNKNOWN_POOL",
      `There is no pool "${name}" in this store. Did you mean "${meant}"?`,
      { remedies: [{ action: "makePool", pool: name, limit }] },
    );
  }
}

interface PoolSetting {
  readonly lease?: Duration;
  readonly by?: string;
  /** Create it even if its name resembles that of another pool. */
  readonly isNew?: boolean;
}

const OF_SETTING: OptionNames<PoolSetting> = { lease: true, by: true, isNew: true };

function checkPool(name: string): void {
  checkText("The name of a pool", name);
  checkKey(poolKey(name));
}

function poolView(gate: GateInfo & { readonly held: number }, pending: number): PoolView {
  const { key, limit, perValue, held, leaseMs, paused } = gate;
  return {
    name: key.slice("pool:".length),
    limit,
    perValue,
    claimed: held,
    pending,
    leaseMs,
    paused,
    draining: draining(gate),
  };
}
