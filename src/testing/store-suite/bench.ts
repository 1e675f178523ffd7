/** A store on a workbench: what the suite needs often. */
import type { PortName, StoreWith } from "../../store/capabilities.ts";
import type { LaneSpec } from "../../store/lane.ts";
import { asksOf, laneOf } from "../../store/lane.ts";
import type {
  Claimed,
  Ended,
  LaneMove,
  LaneRow,
  Moves,
  NewSession,
  News,
  NewTask,
  Passed,
  Scope,
  View,
} from "../../store/store.ts";
import type { FakeClock } from "../clock.ts";

export const MAIL = laneOf("mail", "send", [
  { gate: "pool:smtp", slots: 1 },
  { gate: "queue:mail", slots: 1 },
]);
export const BULK = laneOf("mail", "bulk", [
  { gate: "pool:smtp", slots: 3 },
  { gate: "queue:mail", slots: 1 },
]);
export const BILL = laneOf("money", "bill", [{ gate: "queue:money", slots: 1 }]);

export const NOTHING: Moves = {
  claim: [],
  claimLeaseMs: 60_000,
  start: [],
  expire: [],
  recover: [],
  lanes: [],
};

export function newTask(id: string, more: Partial<NewTask> = {}): NewTask {
  const lane = more.lane ?? MAIL;
  return {
    id,
    name: lane.task,
    priority: 0,
    lane,
    input: '{"to":"a@b"}',
    options: "{}",
    key: null,
    runAt: null,
    delayMs: null,
    goodUntil: null,
    goodForMs: null,
    ...more,
  };
}

/** An empty scope with these lanes and all their gates, locked exclusively. */
export function scopeOf(lanes: readonly LaneSpec[], more: Partial<Scope> = {}): Scope {
  const gates = new Set(lanes.flatMap(({ asks }) => asksOf(asks).map(({ gate }) => gate)));
  return {
    session: "s1",
    finished: [],
    started: [],
    lanes: lanes.map(({ id }) => ({ id, want: 100 })),
    without: [],
    exclusive: [...gates].sort(),
    shared: [],
    intake: true,
    queues: [],
    perQueue: 10,
    parkedOn: [],
    elsewhere: [],
    sideBySide: false,
    prefetching: 0,
    ...more,
  };
}

type Report = Partial<Omit<Ended, "to">> & { readonly to: Ended["to"] };

interface ClaimOptions {
  readonly session?: string;
  readonly held?: boolean;
  readonly claimLeaseMs?: number;
  /** The claim's own lease. */
  readonly leaseMs?: number;
  readonly news?: readonly News[];
}

/** The ports needed to put units in line, claim them and count them. */
export const BASE = ["units", "passes", "sessions", "gates", "maintenance"] as const satisfies PortName[];

type BaseStore = StoreWith<(typeof BASE)[number]>;

export class Bench<S extends BaseStore = BaseStore> {
  readonly store: S;
  readonly clock: FakeClock;

  constructor(store: S, clock: FakeClock) {
    this.store = store;
    this.clock = clock;
  }

  async enqueue(...tasks: readonly (NewTask | string)[]): Promise<void> {
    await this.store.enqueue(tasks.map((task) => (typeof task === "string" ? newTask(task) : task)));
  }

  async session(id = "s1", more: Partial<NewSession> = {}): Promise<void> {
    const serves = JSON.stringify({ queues: ["mail", "money"], tasks: ["send", "bulk", "bill"] });
    await this.store.openSession({ id, name: `worker ${id}`, slots: 4, serves, leaseMs: 30_000, ...more });
  }

  /** What a pass would see. It decides nothing. */
  async look(lanes: readonly LaneSpec[] = [MAIL], more: Partial<Scope> = {}): Promise<View> {
    let seen: View | undefined;
    await this.store.pass(scopeOf(lanes, more), (view) => {
      seen = view;
      return NOTHING;
    });
    return seen as View;
  }

  /** Takes in what was enqueued. */
  intake(): Promise<Passed> {
    return this.store.pass(scopeOf([]), () => NOTHING);
  }

  async claim(ids: readonly string[], options: ClaimOptions = {}): Promise<readonly Claimed[]> {
    const { session = "s1", held = true, claimLeaseMs = 60_000, leaseMs = null, news = [] } = options;
    await this.intake();
    const moves = { ...NOTHING, claimLeaseMs, claim: ids.map((id) => ({ id, held, leaseMs })), news };
    return (await this.store.pass(scopeOf([], { session }), () => moves)).claimed;
  }

  async claimOne(id: string, options: ClaimOptions = {}): Promise<Claimed> {
    const [claimed] = await this.claim([id], options);
    if (!claimed) throw new Error(`${id} could not be claimed`);
    return claimed;
  }

  /** Reports how a claim ended. True if the store accepted it. */
  async report(
    { id, epoch }: { readonly id: string; readonly epoch: number },
    report: Report,
    news: readonly News[] = [],
  ): Promise<boolean> {
    const finished = [{ id, epoch, body: null, delayMs: 0, ...report }];
    const { accepted } = await this.store.pass(scopeOf([], { finished, news, intake: false }), () => NOTHING);
    return accepted.has(id);
  }

  /** Reports that the code of a claim that was taken away has ended. */
  async stopped({ id, epoch }: { readonly id: string; readonly epoch: number }): Promise<void> {
    const finished = [{ id, epoch, to: "stopped" as const }];
    await this.store.pass(scopeOf([], { finished, intake: false }), () => NOTHING);
  }

  /** Moves a lane, with its current stamp or with the given one. */
  async move(lane: LaneSpec, move: Partial<LaneMove>): Promise<void> {
    await this.store.pass(scopeOf([lane]), ({ lanes }) => ({
      ...NOTHING,
      lanes: lanes.map((row) => ({ ...asItIs(row), ...move })),
    }));
  }

  async lane(spec: LaneSpec): Promise<LaneRow> {
    const { lanes } = await this.look([spec], { intake: false });
    const found = lanes.find(({ id }) => id === spec.id);
    if (!found) throw new Error(`lane ${spec.id} is not there`);
    return found;
  }

  async state(id: string): Promise<string | undefined> {
    return (await this.store.task(id))?.state;
  }

  /** A subject's history as "1 TaskEnqueued", … */
  async history(subject: string): Promise<string[]> {
    return (await this.store.events(subject)).map(({ n, kind }) => `${n} ${kind}`);
  }

  async heldAt(gate: string): Promise<number | undefined> {
    return (await this.store.gates()).find(({ key }) => key === gate)?.held;
  }
}

function asItIs({ id, stamp, state, parked, mark, blocked }: LaneRow): LaneMove {
  return { lane: id, stamp, state, parked, mark, blocked, head: null };
}

/** A bench with a store that also has these ports. */
export type BenchWith<P extends PortName> = Bench<BaseStore & StoreWith<P>>;

export type Fresh<P extends PortName = never> = () => Promise<BenchWith<P>>;
