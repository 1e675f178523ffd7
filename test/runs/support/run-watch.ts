// The run gates, sampled from outside: who holds them and who waits, read in one statement of plain SQL.

import type { Aside } from "../../conformance/tables.ts";

export interface Standing {
  readonly id: string;
  /** Its gates, as its row in the store asks for them. */
  readonly gates: readonly string[];
}

export interface Sample {
  readonly at: number;
  readonly running: readonly Standing[];
  /** In the order of the line. */
  readonly waiting: readonly Standing[];
}

const QUESTION = `SELECT 'running' AS place, r.id AS id, t.asks AS asks, r.precedence, r.at FROM sluice_running r JOIN sluice_task t ON t.id = r.id WHERE r.session = '@runs'
  UNION ALL SELECT 'waiting', w.id, t.asks, w.precedence, w.at FROM sluice_waiting w JOIN sluice_task t ON t.id = w.id WHERE t.queue = '@runs'
  ORDER BY 4, 5, 2`;

const gates = new Map<string, readonly string[]>();

/** Runs by the hundred ask the same, and are looked at by the hundred: read once. */
function gatesOf(asks: string): readonly string[] {
  const known = gates.get(asks) ?? (JSON.parse(asks) as [string, number][]).map(([gate]) => gate);
  gates.set(asks, known);
  return known;
}

export async function sampleRuns(aside: Aside): Promise<Sample> {
  const rows = await aside.query(QUESTION);
  const standing = (place: string): Standing[] =>
    rows
      .filter((row) => row.place === place)
      .map((row) => ({ id: row.id as string, gates: gatesOf(row.asks as string) }));
  return { at: performance.now(), running: standing("running"), waiting: standing("waiting") };
}

/** How much of each gate was held, by samples; who could have started and did not, for how long. */
export class RunWatch {
  readonly #limits: Readonly<Record<string, number>>;
  readonly peak = new Map<string, number>();
  samples = 0;
  /** Samples in which somebody blocked stood in front of somebody who had just been let in. */
  overtaken = 0;
  /** The longest that a run could have started and did not, as far as samples tell. */
  longestMs = 0;
  #freeSince = new Map<string, number>();
  #before: Sample | undefined;

  /** A limit for each gate, and "tag:tenant=*" for all of that kind. */
  constructor(limits: Readonly<Record<string, number>>) {
    this.#limits = limits;
  }

  see(sample: Sample): void {
    this.samples += 1;
    const held = new Map<string, number>();
    for (const { gates } of sample.running)
      for (const gate of gates) held.set(gate, (held.get(gate) ?? 0) + 1);
    for (const [gate, slots] of held) this.peak.set(gate, Math.max(slots, this.peak.get(gate) ?? 0));
    const hasRoom = (gate: string): boolean => (held.get(gate) ?? 0) < this.limitOf(gate);
    const free = sample.waiting.find(({ gates }) => gates.every(hasRoom));
    this.#measure(free?.id, sample.at);
    this.#countOvertakes(sample);
    this.#before = sample;
  }

  limitOf(gate: string): number {
    return this.#limits[gate] ?? this.#limits[gate.replace(/=.*$/, "=*")] ?? Number.POSITIVE_INFINITY;
  }

  /** The peaks of every gate with a limit, the highest of each kind. */
  get peaks(): Record<string, number> {
    const peaks: Record<string, number> = {};
    for (const [gate, most] of this.peak) {
      const key = gate in this.#limits ? gate : gate.replace(/=.*$/, "=*");
      if (key in this.#limits) peaks[key] = Math.max(most, peaks[key] ?? 0);
    }
    return peaks;
  }

  /** Only the first one that is free: those behind it may wait for what it will take. */
  #measure(free: string | undefined, at: number): void {
    const since = free === undefined ? at : (this.#freeSince.get(free) ?? at);
    this.#freeSince = free === undefined ? new Map() : new Map([[free, since]]);
    this.longestMs = Math.max(this.longestMs, at - since);
  }

  #countOvertakes(sample: Sample): void {
    const before = this.#before?.waiting ?? [];
    const entered = new Set(sample.running.map(({ id }) => id));
    const stillWaiting = new Set(sample.waiting.map(({ id }) => id));
    const last = before.findLastIndex(({ id }) => entered.has(id));
    if (before.slice(0, Math.max(0, last)).some(({ id }) => stillWaiting.has(id))) this.overtaken += 1;
  }
}
