/** Limits as users see and change them. */
import { didYouMean, nearest } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import { checkKey, noKey } from "../core/gate/check-key.ts";
import type { Limit } from "../core/gate/gate.ts";
import { draining } from "../core/gate/gate.ts";
import { clusterKey, engineKey, familyOf, kindOf, queueKey, runsKey } from "../core/gate/key.ts";
import { undeclared } from "../core/gate/kind.ts";
import { isLimit, leaseProblem } from "../core/gate/range.ts";
import { isOfFile } from "../core/gate/source.ts";
import { sayNumber } from "../core/number.ts";
import type { Remedy } from "../core/remedy.ts";
import { checkText, shortly } from "../core/text.ts";
import type { GateKept, GateState, LimitChange, Store } from "../store/store.ts";
import type { OptionNames } from "./call-options.ts";
import { knownOptions } from "./call-options.ts";
import type { GateUsers } from "./gate-users.ts";
import { holdersAt, programsAt } from "./gate-users.ts";
import type { StoppingView } from "./stopping.ts";
import { stoppingNow } from "./stopping.ts";

export interface LimitView extends GateState {
  readonly draining: boolean;
  /** The origin of the value in force. */
  readonly source: "app" | "file" | "operator" | "sql" | "default";
  /** Holders of this gate whose code should have ended. */
  readonly stopping: readonly StoppingView[];
}

interface SetOptions {
  /** How long a claim on it lasts. Unchanged if absent. */
  readonly leaseMs?: number | undefined;
  /** Create the gate even if no app has declared it and no unit has asked for it. */
  readonly isNew?: boolean;
}

const OF_SET: OptionNames<SetOptions> = { leaseMs: true, isNew: true };

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

  /** Who holds slots of this gate, and the programs that wait for it. Tasks, steps and runs that wait are only counted. */
  async users(key: string): Promise<GateUsers> {
    checkKey(key);
    const [holders, waiters] = await Promise.all([holdersAt(this.#store, key), programsAt(this.#store, key)]);
    return { holders, waiters };
  }

  /**
   * Takes effect with the next pass. -1 is unlimited and 0 pauses. Lowering a limit never evicts a holder.
   */
  async set(
    key: string,
    limit: number,
    by = "code",
    options: SetOptions = {},
  ): Promise<{ from: Limit; limit: Limit }> {
    const { leaseMs, isNew = false } = knownOptions("limits.set", options, OF_SET);
    checkLimit(key, limit);
    const problem = leaseMs === undefined ? undefined : leaseProblem(leaseMs);
    if (problem) throw new SluiceError("BAD_LEASE", `${key}: its lease ${problem}.`);
    checkKey(key);
    if (isNew) mustBeKey(key);
    else await this.#mustBeKnown(key, isGateKey(key) ? [{ action: "makeGate", gate: key, limit }] : []);
    return (await this.#change({ key, to: "value", limit, leaseMs, by })) as { from: Limit; limit: Limit };
  }

  /** Goes back to the strictest limit that the apps declare. */
  async reset(key: string, by = "code"): Promise<{ from: Limit; limit: Limit }> {
    const changed = await this.#change({ key, to: "declared", by });
    if (changed) return changed;
    await this.mustBeKnown(key);
    // No pass has seen it yet, so nobody has set it.
    const limit = await this.#untouched(key);
    return { from: limit, limit };
  }

  async #untouched(key: string): Promise<Limit> {
    const family = familyOf(key);
    if (family === null) return undeclared(key).limit;
    return (await this.#store.limits([family])).get(family) ?? undeclared(family).limit;
  }

  /** Deletes a gate that no app declares and no unit asks for or holds. */
  async delete(key: string): Promise<void> {
    const kept = await this.#store.deleteGate(key);
    if (kept === undefined && (await this.#store.asked()).includes(key))
      throw gateKept(key, { apps: [], isAsked: true });
    if (kept === undefined) throw unknownGate(key);
    if (kept) throw gateKept(key, kept);
  }

  /** A misspelt key would set a limit that binds nothing, so it is refused. */
  mustBeKnown(key: string): Promise<void> {
    return this.#mustBeKnown(key, []);
  }

  /** A run's own gates come and go with the run. `makes` are remedies for a key that is right. */
  async #mustBeKnown(key: string, makes: readonly Remedy[]): Promise<void> {
    checkKey(key);
    const known = await this.known();
    if (isAmong(known, key)) return;
    if (isOfRun(key)) throw goneWithItsRun(key);
    const names = [...known, ...ALWAYS];
    const meant = names.find((each) => each.endsWith(`:${key}`)) ?? nearest(key, names);
    throw unknownGate(key, meant ? ` Did you mean ${meant}?` : "", makes);
  }

  /** Whether an app declares it or a unit asks for it. Any other gate may be a typo. */
  async isKnown(key: string): Promise<boolean> {
    checkKey(key);
    return isAmong(await this.known(), key);
  }

  /** Every gate in the store, and those that units ask for but no pass has seen yet. */
  async known(): Promise<Set<string>> {
    const [gates, asked] = await Promise.all([this.#store.gates(), this.#store.asked()]);
    return new Set([...gates.map(({ key }) => key), ...asked, ...this.#toCome]);
  }

  async #change(change: LimitChange): ReturnType<Store["changeLimit"]> {
    const changed = await this.#store.changeLimit(change);
    if (!changed) return undefined;
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
    checkText("The name of a queue", name);
    const change = { key: queueKey(name), to, by };
    const changed =
      (await this.#store.changeLimit(change)) ??
      // Tasks may be in its line before any pass has created its gate.
      ((await this.#isListed(name)) && (await this.#store.changeLimit({ ...change, isNew: true })));
    if (!changed)
      throw new SluiceError(
        "UNKNOWN_QUEUE",
        `There is no queue ${shortly(name)} in this store.${await this.#meant(name)}`,
        { remedies: [{ action: "listQueues" }] },
      );
    this.#store.hint("work");
  }

  async #isListed(name: string): Promise<boolean> {
    return (await this.list()).some((queue) => queue.name === name);
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
  if (!perValue && limit !== declared) return "sql";
  const binding = said.filter((each) => each.limit !== null && each.limit === declared);
  if (binding.length > 0) return binding.every(({ app }) => isOfFile(app)) ? "file" : "app";
  return said.some((each) => each.limit !== null) ? "app" : "default";
}

export function checkLimit(key: string, limit: unknown): void {
  if (isLimit(limit)) return;
  throw new SluiceError(
    "BAD_LIMIT",
    `${key}: a limit is a whole number: 1 or more, 0 to pause, -1 for unlimited; got ${sayNumber(limit)}.`,
  );
}

/** Always known, because every unit or run asks for them. */
const ALWAYS: ReadonlySet<string> = new Set([clusterKey, engineKey, runsKey]);

const isGateKey = (key: string): boolean => key.includes(":") || ALWAYS.has(key);

/** "run" alone is a slip of "runs". */
const isOfRun = (key: string): boolean => isGateKey(key) && kindOf(key) === "run";

function isAmong(known: ReadonlySet<string>, key: string): boolean {
  const family = familyOf(key);
  return known.has(key) || ALWAYS.has(key) || (family !== null && known.has(family));
}

function mustBeKey(key: string): void {
  if (isOfRun(key)) throw goneWithItsRun(key);
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
