/** The capabilities of a store as data: which ports it implements, and what else it can do. */
import type { AsidePort } from "./ports/asides.ts";
import type { DeclarationPort } from "./ports/declarations.ts";
import type { FeedPort } from "./ports/feed.ts";
import type { GatePort } from "./ports/gates.ts";
import type { HoldingPort } from "./ports/holdings.ts";
import type { InspectionPort } from "./ports/inspection.ts";
import type { LinePort } from "./ports/lines.ts";
import type { MaintenancePort } from "./ports/maintenance.ts";
import type { PassPort } from "./ports/passes.ts";
import type { RequestPort } from "./ports/requests.ts";
import type { RunPort } from "./ports/runs.ts";
import type { SessionPort } from "./ports/sessions.ts";
import type { SharingPort } from "./ports/sharing.ts";
import type { SteeringPort } from "./ports/steering.ts";
import type { SwapPort } from "./ports/swaps.ts";
import type { TriggerPort } from "./ports/triggers.ts";
import type { UnitPort } from "./ports/units.ts";
import type { WaitPort } from "./ports/waiting.ts";
import type { WakeUpPort } from "./ports/wake-ups.ts";

/** The ports of a store, by name. */
export interface Ports {
  readonly units: UnitPort;
  readonly passes: PassPort;
  readonly swaps: SwapPort;
  readonly sessions: SessionPort;
  readonly gates: GatePort;
  readonly holdings: HoldingPort;
  readonly declarations: DeclarationPort;
  readonly lines: LinePort;
  readonly steering: SteeringPort;
  readonly asides: AsidePort;
  readonly requests: RequestPort;
  readonly runs: RunPort;
  readonly waits: WaitPort;
  readonly sharing: SharingPort;
  readonly triggers: TriggerPort;
  readonly inspection: InspectionPort;
  readonly feed: FeedPort;
  readonly wakeUps: WakeUpPort;
  readonly maintenance: MaintenancePort;
}

export type PortName = keyof Ports;

export interface Capabilities {
  readonly ports: readonly PortName[];
  /** Acknowledged writes survive the end of every process. */
  readonly durable: boolean;
  /** Several processes can have it open, and each sees what the others write. */
  readonly shared: boolean;
  /** Passes can overlap: while one waits for the store, another can run. */
  readonly passesAtOnce: boolean;
  /** `enqueue` and `submit` can take part in the caller's transaction. */
  readonly callerTransaction: boolean;
  /**
   * A lane can be parked on a gate: it is hidden until that gate has room. Without this, a parked lane stays
   * in sight.
   */
  readonly parking: boolean;
}

/** The members of every store, whichever ports it implements. */
export interface AnyStore {
  /** The kind of store: "memory", "postgres", … Ask `capabilities` for what it can do. */
  readonly kind: string;
  readonly capabilities: Capabilities;
  close(): Promise<void>;
}

type Joined<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** A store with these ports. */
export type StoreWith<P extends PortName> = AnyStore & Joined<Ports[P]>;

const VERBS: { readonly [P in PortName]: { readonly [Verb in keyof Ports[P]]: true } } = {
  units: { enqueue: true, task: true, tasksById: true, tasks: true, ended: true, find: true, events: true },
  passes: { pass: true },
  swaps: { swap: true },
  sessions: {
    openSession: true,
    renewSession: true,
    retireSession: true,
    closeSession: true,
    sessions: true,
    claimsOf: true,
    stale: true,
    progress: true,
    note: true,
  },
  gates: { gates: true, limits: true, changeLimit: true, deleteGate: true },
  holdings: { holders: true, stopping: true, renewClaims: true },
  declarations: { declare: true, replaced: true, apps: true },
  lines: { wait: true, waiting: true, asked: true, queues: true, line: true },
  steering: { cancel: true, retry: true, reprioritize: true },
  asides: { probe: true, takeIn: true, setAside: true, restore: true, asides: true },
  requests: { withdraw: true, sweepRequests: true },
  runs: {
    submit: true,
    advance: true,
    cancelRun: true,
    failRun: true,
    pauseRun: true,
    failWaiting: true,
    timers: true,
    resetTimer: true,
    stirring: true,
    run: true,
    runWaits: true,
    runs: true,
    items: true,
    standstill: true,
    laterRuns: true,
  },
  waits: { signal: true, answerWait: true, lapseWait: true },
  sharing: {
    lead: true,
    sharing: true,
    intend: true,
    openShared: true,
    closeShared: true,
    forgetShared: true,
  },
  triggers: {
    triggers: true,
    pauseTrigger: true,
    setTrigger: true,
    removeTrigger: true,
    takeTrigger: true,
    fire: true,
    lastSuccesses: true,
    activeRuns: true,
  },
  inspection: { inspect: true },
  feed: { follow: true, resume: true, changes: true, keepFollowing: true, unfollow: true },
  wakeUps: { listen: true, hint: true },
  maintenance: { migrate: true, verify: true, now: true, tend: true },
};

const isPort = (name: string): name is PortName => name in VERBS;

export const ALL_PORTS: readonly PortName[] = Object.keys(VERBS).filter(isPort);

const ALL_VERBS: ReadonlySet<PropertyKey> = new Set(
  Object.values(VERBS).flatMap((port) => Object.keys(port)),
);

/** Whether a member of a store is a verb of one of the ports. */
export const isVerb = (name: PropertyKey): boolean => ALL_VERBS.has(name);

/** Whether a store names these ports and has all of their verbs. */
export function offers<P extends PortName>(store: AnyStore, ports: readonly P[]): store is StoreWith<P> {
  return ports.every(
    (port) => store.capabilities.ports.includes(port) && missingVerbs(store, port).length === 0,
  );
}

/** The verbs of a port that a store does not have. */
export const missingVerbs = (store: AnyStore, port: PortName): string[] =>
  Object.keys(VERBS[port]).filter((verb) => typeof Reflect.get(store, verb) !== "function");
