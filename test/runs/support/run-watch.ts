// Samples the run gates from outside: which runs hold them and which wait, read with one statement of plain
// SQL.

import type { Aside } from "../../conformance/tables.ts";

export interface Standing {
  readonly id: string;
  /** The gates that its row in the store asks for. */
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

/** Hundreds of runs have the same asks and are read hundreds of times, so the parsed asks are cached. */
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

/**
 * How much of each gate was held, and how long a run could have started but did not, according to the
 * samples.
 */
export class RunWatch {
  readonly #limits: Readonly<Record<string, number>>;
  readonly peak = new Map<string, number>();
  samples = 0;
  /** Samples in which a blocked run stood in front of one that had just been let in. */
  overtaken = 0;
  /** The longest time in which a run could have started but did not, as far as samples show. */
  longestMs = 0;
  #freeSince = new Map<string, number>();
  #before: Sample | undefined;

  /** A limit for each gate. "tag:tenant=*" stands for all gates of that kind. */
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

  /** The peak of every gate with a limit; for a kind, the highest of its gates. */
  get peaks(): Record<string, number> {
    const peaks: Record<string, number> = {};
    for (const [gate, most] of this.peak) {
      const key = gate in this.#limits ? gate : gate.replace(/=.*$/, "=*");
      if (key in this.#limits) peaks[key] = Math.max(most, peaks[key] ?? 0);
    }
    return peaks;
  }

  /** Measures only the first free run, because those behind it may wait for what it will take. */
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
