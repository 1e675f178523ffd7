/**
 * The asks of units. This is the only place that turns the fields of tasks, steps and workflows into gates
 * and slots.
 */
import type { Ask } from "./gate.ts";
import { clusterKey, mutexKey, poolKey, queueKey } from "./key.ts";

/** Asks by name, as people write them. */
interface Wanted {
  /** Slots by pool. */
  readonly pools?: Readonly<Record<string, number>> | undefined;
  readonly mutexes?: readonly string[] | undefined;
}

export function asksFor({ pools = {}, mutexes = [] }: Wanted): Ask[] {
  return [
    ...Object.entries(pools).map(([name, slots]) => ({ gate: poolKey(name), slots })),
    ...mutexes.map((name) => ({ gate: mutexKey(name), slots: 1 })),
  ];
}

/** The asks of every task, whether on its own or as a step of a run. */
export function asksOfEveryTask(queue: string): Ask[] {
  return [
    { gate: clusterKey, slots: 1 },
    { gate: queueKey(queue), slots: 1 },
  ];
}
