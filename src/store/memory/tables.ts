/** The records of the memory store: the tables of the schema as plain values. */
import type { EventKind } from "../../core/event.ts";
import type { Limit, Line } from "../../core/gate/gate.ts";
import type { Success } from "../../core/schedule/automation.ts";
import type { News, StepState, Timer } from "../runs.ts";
import { NESTED, RUNS } from "../runs.ts";
import type { AwaitedEvent, FinalState, LaneState, NewWait, Stopping, WaitAnswer } from "../store.ts";
import type { TriggerRow } from "../triggers.ts";
import { MemoryFeed } from "./feed.ts";
import type { IntentRecord, LeaderRecord } from "./sharing-records.ts";
import { Table, UndoLog } from "./table.ts";

export interface GateRecord {
  readonly name: string;
  readonly capacity: Limit;
  readonly declared: Limit;
  readonly paused: boolean;
  readonly line: Line;
  readonly leaseMs: number | null;
  readonly leaseDeclared: number | null;
  readonly setBy: string | null;
  readonly setAt: number | null;
  readonly n: number;
}

interface QueueRecord {
  readonly name: string;
  readonly queueRank: number;
}

export interface DeclaredRecord {
  readonly gate: string;
  readonly app: string;
  readonly capacity: Limit;
  readonly line: Line;
  readonly leaseMs: number | null;
  readonly queueRank: number | null;
  readonly at: number;
}

interface DeployRecord {
  readonly app: string;
  readonly hash: string;
  readonly n: number;
  readonly at: number;
  readonly body: string;
}

export interface LaneRecord {
  readonly id: string;
  readonly queue: string;
  readonly task: string;
  readonly asks: string;
  readonly state: LaneState;
  readonly parked: string | null;
  readonly parkedSlots: number;
  readonly headPrecedence: number;
  readonly headAt: number;
  readonly headId: string;
  readonly stamp: number;
  readonly markUnit: string | null;
  readonly markPassed: number;
  readonly markSince: number;
  readonly blocked: string;
  readonly n: number;
}

export interface ArrivalRecord {
  readonly seq: number;
  readonly lane: string;
  readonly queue: string;
  readonly task: string;
  readonly asks: string;
  readonly precedence: number;
  readonly at: number;
  readonly unit: string;
}

export interface TaskRecord {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly lane: string;
  readonly asks: string;
  readonly priority: number;
  readonly input: string;
  readonly options: string;
  readonly idemKey: string | null;
  readonly goodUntil: number | null;
  readonly createdAt: number;
  /** The run it is a step of; null for plain tasks and for runs. */
  readonly run: string | null;
  readonly step: string | null;
  /** For an item: its place in the list. */
  readonly item: number | null;
}

export interface AsideRecord {
  readonly lane: string;
  readonly queue: string;
  readonly task: string;
  readonly asks: string;
  readonly error: string;
  readonly at: number;
}

/** The place of a unit, smallest first: its negated priority, its time, its id. */
export interface Spot {
  readonly precedence: number;
  readonly at: number;
  readonly id: string;
}

export interface WaitingRecord extends Spot {
  readonly lane: string;
  readonly attempt: number;
  readonly losses: number;
  readonly goodUntil: number | null;
  readonly n: number;
}

interface LaterRecord extends WaitingRecord {
  readonly because: "delay" | "retry";
}

export interface RunningRecord extends WaitingRecord {
  readonly epoch: number;
  readonly session: string;
  readonly held: boolean;
  /** The end of the claim lease, or of its own lease if it has one; otherwise null once it has started. */
  readonly untilAt: number | null;
  readonly claimedAt: number;
  /** The number of its claim in the task's history. */
  readonly claimedN: number;
  readonly startedAt: number | null;
  readonly progress: string | null;
  readonly leaseMs: number | null;
}

/** A claim whose unit has moved on while its code still runs. */
export interface StoppingRecord {
  readonly epoch: number;
  readonly id: string;
  readonly lane: string;
  readonly session: string;
  /** The run that its unit is a step of. */
  readonly run: string | null;
  readonly untilAt: number | null;
  readonly leaseMs: number | null;
  readonly claimedAt: number;
  readonly since: number;
  readonly because: Stopping["because"];
}

interface OutcomeRecord {
  readonly id: string;
  readonly state: FinalState;
  readonly epoch: number | null;
  readonly attempt: number;
  readonly losses: number;
  readonly body: string | null;
  readonly session: string | null;
  readonly claimedAt: number | null;
  readonly claimedN: number | null;
  readonly finishedAt: number;
  readonly n: number;
}

interface EventRecord {
  readonly subject: string;
  readonly n: number;
  readonly kind: EventKind;
  readonly at: number;
  readonly data: string | null;
}

export interface SessionRecord {
  readonly id: string;
  readonly name: string;
  readonly slots: number;
  readonly serves: string;
  readonly expiresAt: number;
  readonly startedAt: number;
  /** Its lease has expired, and this was published. */
  readonly lost: boolean;
}

export interface RunRecord {
  readonly id: string;
  readonly workflow: string;
  readonly graph: string;
  readonly tags: string;
  readonly source: string;
  readonly namespace: string;
  readonly rerunOf: string | null;
  readonly paused: boolean;
  /** When it first started, if it gave its slots back and went back in line. */
  readonly beganAt: number | null;
  /** The run at the top of its tree, and the run that hears of its end. */
  readonly root: string | null;
  readonly parent: string | null;
  readonly depth: number;
}

export interface StepRecord {
  readonly run: string;
  readonly name: string;
  readonly state: StepState;
  readonly unit: string | null;
  readonly body: string | null;
  /** For a step over a list: the lane of its items, how many there are, and how many were put in line. */
  readonly lane: string | null;
  readonly total: number | null;
  readonly created: number | null;
}

export interface NewsRecord extends News {
  readonly seq: number;
}

export interface WaitRecord {
  readonly run: string;
  readonly step: string;
  readonly event: AwaitedEvent | null;
  readonly late: NewWait["late"];
  /** Null as long as it waits. */
  readonly state: WaitAnswer["state"] | null;
  readonly body: string | null;
  readonly signalId: string | null;
  readonly at: number;
}

export interface SignalRecord {
  readonly id: string;
  readonly event: string;
  readonly idemKey: string | null;
  readonly payload: string;
  readonly at: number;
  readonly untilAt: number;
}

export interface TriggerRecord extends Omit<TriggerRow, "busy"> {
  readonly busyUntil: number | null;
}

const byId = (row: { readonly id: string }): string => row.id;
const byName = (row: { readonly name: string }): string => row.name;

export const eventKey = (subject: string, n: number): string => `${subject}\0${String(n).padStart(12, "0")}`;
export const pairKey = (first: string, second: string): string => `${first}\0${second}`;
export const twinKey = (name: string, key: string): string => JSON.stringify([name, key]);

/** The session of runs in progress. It never ends. */
const OF_RUNS: SessionRecord = {
  id: RUNS,
  name: RUNS,
  slots: 1_000_000_000,
  serves: `{"queues":["${RUNS}","${NESTED}"],"tasks":["*"]}`,
  expiresAt: 9_000_000_000_000_000,
  startedAt: 0,
  lost: false,
};

export class Tables {
  readonly #journal = new UndoLog();
  readonly feed = new MemoryFeed({
    unit: (id) => this.task.get(id),
    queueOf: (lane) => this.lane.get(lane)?.queue ?? null,
    holds: (id) => this.running.of(id).some(({ held }) => held),
  });
  readonly gate = new Table<GateRecord>(this.#journal, { name: "gate", key: byName });
  readonly queue = new Table<QueueRecord>(this.#journal, { name: "queue", key: byName });
  readonly declared = new Table<DeclaredRecord>(this.#journal, {
    name: "declared",
    key: ({ gate, app }) => pairKey(gate, app),
    group: ({ gate }) => gate,
  });
  readonly deploy = new Table<DeployRecord>(this.#journal, {
    name: "deploy",
    key: ({ app, hash }) => pairKey(app, hash),
    group: ({ app }) => app,
  });
  readonly lane = new Table<LaneRecord>(this.#journal, {
    name: "lane",
    key: byId,
    group: ({ parked }) => parked,
  });
  readonly arrival = new Table<ArrivalRecord>(this.#journal, { name: "arrival", key: ({ seq }) => seq });
  readonly task = new Table<TaskRecord>(this.#journal, {
    name: "task",
    key: byId,
    group: ({ name, idemKey }) => (idemKey === null ? null : twinKey(name, idemKey)),
  });
  readonly waiting = new Table<WaitingRecord>(this.#journal, {
    name: "waiting",
    key: byId,
    group: ({ lane }) => lane,
  });
  readonly later = new Table<LaterRecord>(this.#journal, { name: "later", key: byId });
  readonly deadline = new Table<{ readonly id: string; readonly at: number }>(this.#journal, {
    name: "deadline",
    key: byId,
  });
  readonly running = new Table<RunningRecord>(this.#journal, {
    name: "running",
    key: ({ epoch }) => epoch,
    group: byId,
  });
  readonly stopping = new Table<StoppingRecord>(this.#journal, {
    name: "stopping",
    key: ({ epoch }) => epoch,
  });
  readonly outcome = new Table<OutcomeRecord>(this.#journal, { name: "outcome", key: byId });
  readonly event = new Table<EventRecord>(this.#journal, {
    name: "event",
    key: ({ subject, n }) => eventKey(subject, n),
    group: ({ subject }) => subject,
    inserted: (row) => this.feed.event(row),
  });
  readonly session = new Table<SessionRecord>(this.#journal, { name: "session", key: byId });
  readonly run = new Table<RunRecord>(this.#journal, { name: "run", key: byId });
  readonly graph = new Table<{ readonly hash: string; readonly body: string }>(this.#journal, {
    name: "graph",
    key: ({ hash }) => hash,
  });
  readonly step = new Table<StepRecord>(this.#journal, {
    name: "step",
    key: ({ run, name }) => pairKey(run, name),
    group: ({ run }) => run,
  });
  readonly news = new Table<NewsRecord>(this.#journal, { name: "news", key: ({ seq }) => seq });
  readonly timer = new Table<Timer>(this.#journal, {
    name: "timer",
    key: ({ id, kind }) => pairKey(id, kind),
    group: byId,
  });
  readonly wait = new Table<WaitRecord>(this.#journal, {
    name: "wait",
    key: ({ run, step }) => pairKey(run, step),
    group: ({ run }) => run,
  });
  readonly signal = new Table<SignalRecord>(this.#journal, { name: "signal", key: byId });
  readonly success = new Table<Success>(this.#journal, { name: "success", key: ({ workflow }) => workflow });
  readonly aside = new Table<AsideRecord>(this.#journal, { name: "aside", key: ({ lane }) => lane });
  readonly leader = new Table<LeaderRecord>(this.#journal, { name: "leader", key: byName });
  readonly intent = new Table<IntentRecord>(this.#journal, { name: "intent", key: ({ unit }) => unit });
  readonly trigger = new Table<TriggerRecord>(this.#journal, { name: "trigger", key: byName });
  #lastEpoch = 0;
  #lastSeq = 0;

  constructor() {
    this.transact(() => {
      this.session.insert(OF_RUNS);
      this.queue.insert({ name: NESTED, queueRank: 0 });
      this.leader.insert({ name: "shared", engine: "", session: "", untilAt: 0, n: 0 });
      // The row that declarations lock, in stores that have locks.
      this.deploy.insert({ app: "", hash: "", n: 0, at: 0, body: "" });
    });
  }

  transact<T>(work: () => T): T {
    return this.#journal.transact(work);
  }

  /** Always grows. A number handed out in vain is not used again. */
  nextEpoch(): number {
    this.#lastEpoch += 1;
    return this.#lastEpoch;
  }

  /** The last epoch handed out. */
  get lastEpoch(): number {
    return this.#lastEpoch;
  }

  nextSeq(): number {
    this.#lastSeq += 1;
    return this.#lastSeq;
  }
}

/** The order of units in a lane. */
export const inLine = (a: Spot, b: Spot): number =>
  a.precedence - b.precedence || a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

export const headOf = ({ headPrecedence, headAt, headId }: LaneRecord): Spot => ({
  precedence: headPrecedence,
  at: headAt,
  id: headId,
});

/** Avoids -0: a value written as 0 must not be read back as -0. */
export const negated = (value: number): number => 0 - value;
