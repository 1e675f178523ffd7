/** Limits as users see and change them. */
import { didYouMean, nearest } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import { checkKey, noKey } from "../core/gate/check-key.ts";
import type { Limit } from "../core/gate/gate.ts";
import { draining } from "../core/gate/gate.ts";
import { clusterKey, familyOf, kindOf, queueKey, runsKey } from "../core/gate/key.ts";
import { isLimit, leaseProblem } from "../core/gate/range.ts";
import type { Remedy } from "../core/remedy.ts";
import { shortly } from "../core/text.ts";
import type { GateKept, GateState, LimitChange, Store } from "../store/store.ts";
import type { StoppingView } from "./stopping.ts";
import { stoppingNow } from "./stopping.ts";

export interface LimitView extends GateState {
  readonly draining: boolean;
  /** The origin of the value in force. */
  readonly source: "app" | "operator" | "sql" | "default";
  /** Holders of this gate whose code should have ended. */
  readonly stopping: readonly StoppingView[];
}

interface SetOptions {
  /** How long a claim on it lasts. Unchanged if absent. */
  readonly leaseMs?: number | undefined;
  /** Create the gate even if no app has declared it and no unit has asked for it. */
  readonly isNew?: boolean;
}

export class Limits {
  readonly #store: Store;
  /** Gates that the app at hand declares, even if the store does not have them yet. */
  readonly #toCome: Iterable<string>;

  constructor(store: Store, toCome: Iterable<string> = []) {
    this.#store = store;
    this.#toCome = [...toCome];
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

  /**
   * Takes effect with the next pass. -1 is unlimited and 0 pauses. Lowering a limit never evicts a holder.
   */
  async set(
    key: string,
    limit: number,
    by = "code",
    { leaseMs, isNew = false }: SetOptions = {},
  ): Promise<{ from: Limit; limit: Limit }> {
    if (!isLimit(limit))
      throw new SluiceError(
        "BAD_LIMIT",
        `${key}: a limit is a whole number: 1 or more, 0 to pause, -1 for unlimited; got ${limit}.`,
      );
    const problem = leaseMs === undefined ? undefined : leaseProblem(leaseMs);
    if (problem) throw new SluiceError("BAD_LEASE", `${key}: its lease ${problem}.`);
    checkKey(key);
    if (isNew) mustBeKey(key);
    else await this.#mustBeKnown(key, limit);
    return this.#change({ key, to: "value", limit, leaseMs, by });
  }

  /** Goes back to the strictest limit that the apps declare. */
  reset(key: string, by = "code"): Promise<{ from: Limit; limit: Limit }> {
    return this.#change({ key, to: "declared", by });
  }

  /** Deletes a gate that no app declares and no unit asks for or holds. */
  async delete(key: string): Promise<void> {
    const kept = await this.#store.deleteGate(key);
    if (kept === undefined) throw unknownGate(key);
    if (kept) throw gateKept(key, kept);
  }

  /**
   * A misspelt key would set a limit that binds nothing, so it is refused. A run's own gates come and go with
   * the run.
   */
  async #mustBeKnown(key: string, limit: number): Promise<void> {
    const known = await this.known();
    if (isAmong(known, key)) return;
    if (kindOf(key) === "run") throw goneWithItsRun(key);
    const meant = [...known].find((each) => each.endsWith(`:${key}`)) ?? nearest(key, [...known]);
    const makes: readonly Remedy[] = isGateKey(key) ? [{ action: "makeGate", gate: key, limit }] : [];
    throw unknownGate(key, meant ? ` Did you mean ${meant}?` : "", makes);
  }

  /** Whether an app declares it or a unit asks for it. Any other gate may be a typo. */
  async isKnown(key: string): Promise<boolean> {
    return isAmong(await this.known(), key);
  }

  /** Every gate in the store, and those that units ask for but no pass has seen yet. */
  async known(): Promise<Set<string>> {
    const [gates, asked] = await Promise.all([this.#store.gates(), this.#store.asked()]);
    return new Set([...gates.map(({ key }) => key), ...asked, ...this.#toCome]);
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
        `There is no queue ${shortly(name)} in this store.${await this.#meant(name)}`,
        { remedies: [{ action: "listQueues" }] },
      );
    this.#store.hint("work");
  }

  async #meant(name: string): Promise<string> {
    return didYouMean(
      name,
      (await this.list()).map((queue) => queue.name),
    );
  }
}

function sourceOf({ setBy, limit, declared, perValue, said }: GateState): LimitView["source"] {
  if (setBy !== null) return "operator";
  if (!perValue && limit !== declared && declared !== null) return "sql";
  return said.some((each) => each.limit !== null) ? "app" : "default";
}

/** Always known, because every unit or run asks for them. */
const ALWAYS: ReadonlySet<string> = new Set([clusterKey, runsKey]);

const isGateKey = (key: string): boolean => key.includes(":") || ALWAYS.has(key);

function isAmong(known: ReadonlySet<string>, key: string): boolean {
  const family = familyOf(key);
  return known.has(key) || ALWAYS.has(key) || (family !== null && known.has(family));
}

function mustBeKey(key: string): void {
  if (kindOf(key) === "run") throw goneWithItsRun(key);
  if (!isGateKey(key)) throw noKey(key);
}

const goneWithItsRun = (key: string): SluiceError =>
  new SluiceError("UNKNOWN_GATE", `There is no gate "${key}": its run has ended, or there is no such run.`);

const unknownGate = (key: string, meant = "", remedies: readonly Remedy[] = []): SluiceError =>
  new SluiceError(
    "UNKNOWN_GATE",
    `There is no gate "${key}" in this store: no app declares it and nothing asks for it.${meant}`,
    { remedies: [...remedies, { action: "listLimits" }] },
  );

function gateKept(key: string, { apps, isAsked }: GateKept): SluiceError {
  const who = apps.map((app) => `"${app}"`).join(", ");
  const why =
    apps.length > 0
      ? `app ${who} declares it. Remove it from the app and deploy the app, or reset the limit to what it declares.`
      : "units wait for it or hold it. You can reset its limit to the default.";
  return new SluiceError("GATE_IN_USE", `The gate "${key}" cannot be deleted: ${why}`, {
    details: { apps, isAsked },
    remedies: [{ action: "resetLimit", gate: key }],
  });
}
