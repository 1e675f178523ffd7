/** The holders of a gate, and the programs that wait for it. */
import { LOCKS, shownName } from "../core/lock/request.ts";
import { asksOf } from "../store/lane.ts";
import type { GateHolder, Store } from "../store/store.ts";

export interface HolderView extends GateHolder {
  /** True if a program holds it, and not a task or a run. */
  readonly program?: true;
}

/** A program that waits for a lock. */
export interface GateWaiter {
  /** The ID of its request. `why` knows it. */
  readonly id: string;
  /** The holder that it named, or its host and process. */
  readonly name: string;
  readonly slots: number;
  readonly priority: number;
  /** Since when it is in line. */
  readonly at: number;
}

export interface GateUsers {
  readonly holders: readonly HolderView[];
  readonly waiters: readonly GateWaiter[];
}

const MOST = 1_000;

/** A request of a program is known by its holder. */
export const holdersAt = async (store: Store, gate: string): Promise<HolderView[]> =>
  (await store.holders(gate)).map((holder) => {
    const name = shownName(holder.name);
    return { ...holder, name, ...(name === holder.name ? {} : { program: true }) };
  });

/** The first of all programs that wait are looked at, in order. */
export async function programsAt(store: Store, gate: string): Promise<GateWaiter[]> {
  const { heads, lanes } = await store.line(LOCKS, MOST);
  const byId = new Map(lanes.map((lane) => [lane.id, lane]));
  return heads.flatMap(({ id, lane, priority, at }): GateWaiter[] => {
    const { asks = "[]", task = "" } = byId.get(lane) ?? {};
    const ask = asksOf(asks).find((each) => each.gate === gate);
    return ask ? [{ id, name: shownName(task), slots: ask.slots, priority, at }] : [];
  });
}
