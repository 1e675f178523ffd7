/** Limits as people see and change them. */
import { SluiceError } from "../core/error.ts";
import type { Limit } from "../core/gate/gate.ts";
import { draining, UNLIMITED } from "../core/gate/gate.ts";
import { queueKey } from "../core/gate/key.ts";
import type { GateInfo, LimitChange, Store } from "../store/store.ts";
import type { StoppingView } from "./stopping.ts";
import { stoppingNow } from "./stopping.ts";

export interface LimitView extends Omit<GateInfo, "setBy" | "setAt"> {
  readonly held: number;
  readonly draining: boolean;
  /** Where the value in force comes from. */
  readonly source: "app" | "operator" | "sql" | "default";
  readonly setBy: string | null;
  readonly setAt: number | null;
  /** Those of its holders whose code should have ended. */
  readonly stopping: readonly StoppingView[];
}

export class Limits {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async list(): Promise<LimitView[]> {
    const [gates, stopping] = await Promise.all([this.#store.gates(), stoppingNow(this.#store)]);
    return gates.map((gate) => ({
      ...gate,
      draining: draining(gate),
      source: sourceOf(gate),
      stopping: stopping.filter(({ asks }) => asks.some((ask) => ask.gate === gate.key)),
    }));
  }

  /** Takes effect with the next pass: -1 is unlimited, 0 pauses; lowering never evicts. */
  async set(
    key: string,
    limit: number,
    by = "code",
    leaseMs?: number,
  ): Promise<{ from: Limit; limit: Limit }> {
    if (!Number.isSafeInteger(limit) || limit < UNLIMITED)
      throw new SluiceError(
        "BAD_LIMIT",
        `${key}: a limit is a whole number: 1 or more, 0 to pause, -1 for unlimited; got ${limit}.`,
      );
    return this.#change({ key, to: "value", limit, leaseMs, by });
  }

  /** Back to what the app declares. */
  reset(key: string, by = "code"): Promise<{ from: Limit; limit: Limit }> {
    return this.#change({ key, to: "declared", by });
  }

  async #change(change: LimitChange): Promise<{ from: Limit; limit: Limit }> {
    const changed = await this.#store.changeLimit(change);
    if (!changed) throw unknownGate(change.key);
    this.#store.hint("work");
    this.#store.hint("runs");
    return changed;
  }
}

export class Queues {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  list(): ReturnType<Store["queues"]> {
    return this.#store.queues();
  }

  pause(name: string, by = "code"): Promise<void> {
    return this.#set(name, "paused", by);
  }

  resume(name: string, by = "code"): Promise<void> {
    return this.#set(name, "resumed", by);
  }

  async #set(name: string, to: "paused" | "resumed", by: string): Promise<void> {
    const changed = await this.#store.changeLimit({ key: queueKey(name), to, by });
    if (!changed)
      throw new SluiceError(
        "UNKNOWN_QUEUE",
        `There is no queue "${name}" in this store. See: sluice queues list`,
      );
    this.#store.hint("work");
  }
}

function sourceOf(gate: GateInfo): LimitView["source"] {
  if (gate.setBy !== null) return "operator";
  if (gate.limit !== gate.declared && gate.declared !== null) return "sql";
  return gate.declared === null || gate.declared === UNLIMITED ? "default" : "app";
}

const unknownGate = (key: string): SluiceError =>
  new SluiceError("UNKNOWN_GATE", `There is no gate "${key}" in this store. See: sluice limits list`);
