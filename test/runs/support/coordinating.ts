// The work of a coordinator, verb by verb and without its loops: a test decides when a run is let in, started
// and finished.

import type { Answer, Claimed, Report } from "../../../src/engine/claiming/claims.ts";
import { StoreClaims } from "../../../src/engine/claiming/store-claims.ts";
import { laneOf } from "../../../src/store/lane.ts";
import { STILL } from "../../../src/store/runs.ts";
import type { Advanced, NewRun, RunMove, RunSeen, Store } from "../../../src/store/store.ts";
import { RUNS } from "../../../src/store/store.ts";
import { IDLE, scopeOf } from "../../race/support.ts";

const LOOK: Report = {
  finished: [],
  started: [],
  active: 0,
  appetite: 200,
  draining: false,
  hinted: true,
  ownTurn: true,
};

export function claimsOfRuns(store: Store, startTimeoutMs = 180_000): StoreClaims {
  const claims = new StoreClaims(store, {
    name: RUNS,
    slots: 1_000_000,
    prefetch: 0,
    claimLeaseMs: startTimeoutMs,
    queues: [RUNS],
    tasks: ["*"],
  });
  claims.speakFor(RUNS);
  return claims;
}

/** Lets in all runs that may start, and returns their IDs. */
export async function letIn(claims: StoreClaims): Promise<string[]> {
  const ids: string[] = [];
  let answer: Answer;
  do {
    answer = await claims.exchange(LOOK);
    claims.forget(answer.claimed);
    ids.push(...answer.claimed.map(({ id }) => id));
  } while (answer.more);
  return ids;
}

/** A worker for steps, without code. */
export async function stepWorker(store: Store, session: string) {
  const claims = new StoreClaims(store, {
    name: session,
    slots: 4,
    prefetch: 0,
    claimLeaseMs: 60_000,
    queues: ["default"],
    tasks: ["work"],
  });
  await claims.open(session, 600_000);
  return {
    take: async (): Promise<Claimed[]> => {
      const claimed: Claimed[] = [];
      for (let more = true; more; ) {
        const answer = await claims.exchange(LOOK);
        claimed.push(...answer.claimed);
        more = answer.more;
      }
      return claimed;
    },
    /** Reports how an attempt ended, and takes nothing new. */
    report: async ({ id, epoch }: Claimed, to: "returned" | "retry", delayMs: number): Promise<void> => {
      const finished = [{ id, epoch, to, body: null, delayMs }];
      await claims.exchange({ ...LOOK, finished, draining: true });
    },
    /** Reports that the code of all claims taken away from it has ended. */
    stop: async (): Promise<void> => {
      const taken = await claims.stopping();
      const finished = taken.map(({ id, epoch }) => ({ id, epoch, to: "stopped" as const }));
      await claims.exchange({ ...LOOK, finished, draining: true });
    },
  };
}

/** Moves each run with news as `move` says. */
export function advance(store: Store, move: (run: RunSeen) => Partial<RunMove>): Promise<Advanced> {
  return store.advance((runs) => ({
    moves: runs.map((run) => ({ ...STILL, run: run.id, epoch: run.epoch, ...move(run) })),
  }));
}

/** Starts the run and puts its one step in line. */
export function started(run: string): Partial<RunMove> {
  const gate = `run:${run}/async`;
  const lane = laneOf("default", "work", [
    { gate: "queue:default", slots: 1 },
    { gate, slots: 1 },
  ]);
  const unit = `${run}-step`;
  return {
    start: { gates: [{ key: gate, limit: -1 }], timeoutMs: 600_000 },
    steps: [{ name: "work", state: "open", unit, body: null }],
    enqueue: [{ ...taskOf(unit, lane), step: "work", claimTimeoutMs: 600_000 }],
  };
}

export const succeeded: Partial<RunMove> = { finish: { state: "succeeded", body: "1" } };

/** Leaves news of a run, as an ending step does. */
export async function leaveNews(store: Store, run: string, intake = false): Promise<void> {
  await store.pass(scopeOf({ news: [{ run, failed: null }], intake }), () => IDLE);
}

export function newRun(id: string, more: Partial<NewRun> = {}): NewRun {
  const lane = laneOf(RUNS, "job", [
    { gate: "runs", slots: 1 },
    { gate: "tag:tenant", slots: 1 },
    { gate: "tag:tenant=a", slots: 1 },
  ]);
  return {
    ...taskOf(id, lane),
    name: "job",
    options: JSON.stringify({ startTimeoutMs: 180_000, onStartTimeout: "requeue" }),
    direct: false,
    graph: "{}",
    tags: '{"tenant":"a"}',
    source: "test",
    rerunOf: null,
    steps: [],
    ...more,
  };
}

function taskOf(id: string, lane: NewRun["lane"]) {
  return {
    id,
    name: "work",
    priority: 0,
    lane,
    input: "null",
    options: "{}",
    key: null,
    runAt: null,
    delayMs: null,
    goodUntil: null,
    goodForMs: null,
  };
}
