/**
 * The asks of units. This is the only place that turns the fields of tasks, steps and workflows into gates
 * and slots.
 */
import type { Ask } from "./gate.ts";
import { clusterKey, poolKey, queueKey } from "./key.ts";
import type { Lock } from "./lock.ts";
import { asksOfLocks } from "./lock.ts";

/** What a unit names in its own fields. */
interface Wanted {
  /** Slots by pool. */
  readonly pools?: Readonly<Record<string, number>> | undefined;
  readonly locks?: readonly Lock[];
}

/** `namespace` is that of the run, for locks without one of their own. */
export function asksFor({ pools = {}, locks = [] }: Wanted, namespace: string): Ask[] {
  return [
    ...Object.entries(pools).map(([name, slots]) => ({ gate: poolKey(name), slots })),
    ...asksOfLocks(locks, namespace),
  ];
}

/** An ask as it is stored. */
export type StoredAsk = readonly [gate: string, slots: number, line?: "skip"];

export const storedAsk = ({ gate, slots, line }: Ask): StoredAsk =>
  line === undefined ? [gate, slots] : [gate, slots, line];

export const askOf = ([gate, slots, line]: StoredAsk): Ask =>
  line === undefined ? { gate, slots } : { gate, slots, line };

/** The asks of every task, whether on its own or as a step of a run. */
export function asksOfEveryTask(queue: string): Ask[] {
  return [
    { gate: clusterKey, slots: 1 },
    { gate: queueKey(queue), slots: 1 },
  ];
}
