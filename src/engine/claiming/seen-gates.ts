/**
 * The gates as a claimer last saw them: which of them it locks exclusively, and how many units of a lane
 * could pass. An unknown gate is assumed to bind.
 */
import { bounded, lineOf, most, UNLIMITED } from "../../core/gate/gate.ts";
import { familyOf } from "../../core/gate/key.ts";
import { inByteOrder } from "../../core/text.ts";
import { asksOf } from "../../store/lane.ts";
import type { GateRow } from "../../store/store.ts";

/** A forgotten gate costs only another read. */
const MOST_GATES = 10_000;
const MOST_QUEUED = 64;
const ANY = { limit: UNLIMITED, paused: false } as const;

/** A lane, or anything else with asks. */
interface Asking {
  readonly asks: string;
}

export class SeenGates {
  readonly #gates = new Map<string, GateRow>();

  learn(rows: readonly GateRow[]): void {
    if (this.#gates.size > MOST_GATES) this.#gates.clear();
    for (const gate of rows) this.#gates.set(gate.key, gate);
  }

  isUnlimited(key: string): boolean {
    const gate = this.#gates.get(key);
    return gate !== undefined && !bounded(gate);
  }

  /**
   * Gates that cannot bind are locked in shared mode, all others exclusively. A family is read with its
   * members.
   */
  locks(
    lanes: readonly Asking[],
    told: readonly string[],
  ): { exclusive: string[]; shared: string[]; keys: string[] } {
    const keys = new Set([...told, ...lanes.flatMap(({ asks }) => asksOf(asks).map(({ gate }) => gate))]);
    const exclusive: string[] = [];
    const shared = new Set<string>();
    for (const key of keys) {
      if (this.isUnlimited(key)) shared.add(key);
      else exclusive.push(key);
      const family = familyOf(key);
      if (family && !keys.has(family)) shared.add(family);
    }
    return {
      exclusive: exclusive.sort(inByteOrder),
      shared: [...shared].sort(inByteOrder),
      keys: [...keys].sort(inByteOrder),
    };
  }

  /** The most units of a lane that its gates could ever admit at once. */
  mostOf({ asks }: Asking): number {
    return Math.min(...asksOf(asks).map(({ gate, slots }) => most(this.#gates.get(gate) ?? ANY, slots)));
  }

  /**
   * In a strict line every unit keeps its place. The pass needs enough of them to fill the gate; otherwise
   * units behind them would wait for nothing.
   */
  queuedFor({ asks }: Asking): number {
    let queued = 0;
    for (const ask of asksOf(asks)) {
      const row = this.#gates.get(ask.gate);
      if (row && lineOf(ask, row) === "strict" && bounded(row))
        queued = Math.max(queued, Math.min(MOST_QUEUED, most(row, ask.slots)) + 1);
    }
    return queued;
  }
}
