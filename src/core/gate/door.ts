/** The gates of a snapshot while a line walks past them. */
import type { Ask, Gate, Obstacle } from "./gate.ts";
import { obstacle, room } from "./gate.ts";
import type { Waiter, Watch } from "./waiter.ts";

export interface Door {
  readonly gate: Gate;
  /** Slots held, with what this walk gave to the claimer; `left` is what it left to other workers. */
  taken: number;
  left: number;
  /** Slots for those who are not decided: nobody behind them takes these, whoever may be before them does. */
  kept: number;
  /** Slots reserved by those in front, and the first of them. */
  ahead: number;
  front: Waiter | undefined;
  /** Somebody would fit here but for what is reserved. */
  holdsBack: boolean;
  /** How many wait for it, for whatever reason. */
  waiting: number;
  /** Somebody waits for slots of skip gates alone, this one among them: the next slot here is not for those behind. */
  awaited: boolean;
  /** Heads of lanes that are overtaken by whoever takes from here. */
  readonly watching: Watch[];
}

/** An ask, the door it stands before, and what is in its way there. */
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

  /** The unit before each of its doors, as they are now. */
  of(unit: Waiter): Entry[] {
    return unit.asks.map((ask) => {
      const door = this.#get(ask.gate);
      const what = obstacle(door.gate, door.taken + door.left + door.kept, door.ahead, ask.slots);
      if (what === "behind") door.holdsBack = true;
      return { ask, door, what };
    });
  }

  /** A gate that the snapshot does not know has no limit yet. */
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
