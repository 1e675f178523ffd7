// Claimers at one store in memory, which finish what they are told to.

import type { Ask } from "../../src/core/gate/gate.ts";
import { bornAs } from "../../src/core/gate/kind.ts";
import type { Answer, Claimed, Finished, Report, Seat } from "../../src/engine/claiming/claims.ts";
import { StoreClaims } from "../../src/engine/claiming/store-claims.ts";
import { laneOf } from "../../src/store/lane.ts";
import type { MemoryStore } from "../../src/store/memory/index.ts";
import { openMemory } from "../../src/store/memory/index.ts";
import type { NewTask } from "../../src/store/store.ts";
import { FakeClock } from "../../src/testing/clock.ts";

export const unit = (
  id: string,
  asks: Record<string, number>,
  more: Partial<NewTask> & { task?: string; queue?: string } = {},
): NewTask => {
  const { task = "t", queue = "q", ...rest } = more;
  const all: Ask[] = Object.entries({ cluster: 1, [`queue:${queue}`]: 1, ...asks }).map(([gate, slots]) => ({
    gate,
    slots,
  }));
  return {
    id,
    name: task,
    priority: 0,
    lane: laneOf(queue, task, all),
    input: "{}",
    options: "{}",
    key: null,
    runAt: null,
    delayMs: null,
    goodUntil: null,
    goodForMs: null,
    ...rest,
  };
};

export const many = (count: number, make: (name: string) => NewTask): NewTask[] =>
  Array.from({ length: count }, (_, index) => make(String(index).padStart(4, "0")));

export const USUAL = { started: [], appetite: 1_000, draining: false, hinted: true, ownTurn: false };

/** The claiming part of a worker: it remembers what it holds and finishes what it is told to. */
export class Claimer {
  readonly claims: StoreClaims;
  readonly held = new Map<string, Claimed>();
  readonly answers: Answer[] = [];
  #finished: Finished[] = [];

  constructor(store: MemoryStore, seat: Partial<Seat>) {
    this.claims = new StoreClaims(store, {
      name: "w",
      slots: 4,
      prefetch: 0,
      claimLeaseMs: 60_000,
      queues: ["q"],
      tasks: ["t"],
      ...seat,
    });
  }

  async exchange(report: Partial<Report> = {}): Promise<Answer> {
    const finished = this.#finished;
    this.#finished = [];
    const active = [...this.held.values()].filter(({ held }) => held).length;
    const answer = await this.claims.exchange({ ...USUAL, finished, active, ...report });
    for (const claim of answer.claimed) this.held.set(claim.id, claim);
    for (const id of answer.started) this.held.set(id, { ...(this.held.get(id) as Claimed), held: true });
    this.answers.push(answer);
    return answer;
  }

  /** Asks again for as long as there may be more. Answers the number of exchanges. */
  async exhaust(report: Partial<Report> = {}): Promise<number> {
    for (let rounds = 1; rounds <= 100; rounds += 1) {
      const { more } = await this.exchange(rounds === 1 ? report : { hinted: false, ...report });
      if (!more) return rounds;
    }
    throw new Error("a hundred exchanges, and there is still more");
  }

  finish(...ids: readonly string[]): void {
    for (const id of ids) {
      const { epoch } = this.held.get(id) as Claimed;
      this.held.delete(id);
      this.#finished.push({ id, epoch, to: "succeeded", body: "1", delayMs: 0 });
    }
  }

  get ids(): string[] {
    return [...this.held.keys()].sort();
  }
}

export interface World {
  readonly store: MemoryStore;
  readonly clock: FakeClock;
  claimer(session: string, seat?: Partial<Seat>): Promise<Claimer>;
}

export async function world(
  limits: Record<string, number> = {},
  ranks: Record<string, number> = { q: 100 },
): Promise<World> {
  const clock = new FakeClock();
  const store = openMemory({ now: clock.now });
  await store.declare({
    queues: Object.entries(ranks).map(([name, rank]) => ({ name, rank })),
    gates: Object.entries(limits).map(([key, limit]) => ({ key, limit, line: bornAs(key).line })),
  });
  const claimer = async (session: string, seat: Partial<Seat> = {}): Promise<Claimer> => {
    const made = new Claimer(store, seat);
    await made.claims.open(session, 1_000_000);
    return made;
  };
  return { store, clock, claimer };
}

export const states = async (store: MemoryStore): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const { state } of await store.tasks({ limit: 10_000 })) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
};
