/** The gates of a snapshot, and their state during the walk along the line. */
import type { Ask, Gate, Obstacle } from "./gate.ts";
import { obstacle, room } from "./gate.ts";
import type { Waiter, Watch } from "./waiter.ts";

export interface Door {
  readonly gate: Gate;
  /**
   * Slots held, including those this walk gave to the claimer. `left` counts those it left to other workers.
   */
  taken: number;
  left: number;
  /**
   * Slots kept for undecided units. Units behind them cannot take these slots; units ahead that are not shown
   * can.
   */
  kept: number;
  /** Slots reserved by units in front, and the first of these units. */
  ahead: number;
  front: Waiter | undefined;
  /** True if a unit did not fit in here only because of reserved slots. */
  holdsBack: boolean;
  /** The number of units that wait for it, for whatever reason. */
  waiting: number;
  /**
   * True if a unit waits only for slots of skip gates, and this is one of them. Units behind it do not get
   * the next slot here.
   */
  awaited: boolean;
  /** Heads of lanes that watch this gate. Every unit that takes slots here overtakes them. */
  readonly watching: Watch[];
}

/** An ask, its door, and the obstacle there, if any. */
export interface Entry {
  readonly ask: Ask;
  readonly door: Door;
  readonly what: Obstacle | undefined;
}

export class Doors {
  readonly #doors = new Map<string, Door>();

  constructor(gates: Iterable<Gate>) {
    for (const gate of gates) this.#doors.set(gate.key, open(gate));
  }

  /** The unit's entries: the current state of each of its doors. */
  of(unit: Waiter): Entry[] {
    return unit.asks.map((ask) => {
      const door = this.#get(ask.gate);
      const what = obstacle(door.gate, door.taken + door.left + door.kept, door.ahead, ask.slots);
      if (what === "behind") door.holdsBack = true;
      return { ask, door, what };
    });
  }

  /** A gate that is not in the snapshot has no limit yet. */
  #get(key: string): Door {
    let door = this.#doors.get(key);
    if (!door) {
      door = open({ key, limit: null, paused: false, line: "skip", held: 0 });
      this.#doors.set(key, door);
    }
    return door;
  }

  taken(): Map<string, number> {
    const taken = new Map<string, number>();
    for (const [key, door] of this.#doors) taken.set(key, door.taken);
    return taken;
  }

  free(): Map<string, number> {
    const free = new Map<string, number>();
    for (const [key, { gate, taken }] of this.#doors) free.set(key, room(gate, taken));
    return free;
  }
}

function open(gate: Gate): Door {
  return {
    gate,
    taken: gate.held,
    left: 0,
    kept: 0,
    ahead: 0,
    front: undefined,
    holdsBack: false,
    waiting: 0,
    awaited: false,
    watching: [],
  };
}
