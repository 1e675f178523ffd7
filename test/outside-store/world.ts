/** The whole state of the toy store, in plain maps. A verb that fails leaves it unchanged. */
import type { EventRow, FinalState, GateInfo, LaneRow, LaneSpec, NewSession } from "sluice/store";

export interface Unit {
  readonly id: string;
  readonly name: string;
  readonly lane: LaneSpec;
  readonly priority: number;
  readonly input: string;
  readonly options: string;
  readonly key: string | null;
  readonly goodUntil: number | null;
  readonly createdAt: number;
  place: "later" | "waiting" | "claimed" | FinalState;
  /**
   * Its time in the order of the line, or the end of its delay. A claim keeps it, so that the unit can return
   * to its place.
   */
  at: number;
  /** When it joined the line. A unit that came back may have joined later than `at`. */
  since: number;
  attempt: number;
  losses: number;
  /** The last claim. For a unit in line, that claim has ended. */
  claim: Claim | null;
  endedAt: number;
  body: string | null;
}

export interface Claim {
  readonly epoch: number;
  readonly session: string;
  readonly claimedAt: number;
  readonly leaseMs: number | null;
  held: boolean;
  /** The end of its lease, until it starts. */
  until: number | null;
  isStarted: boolean;
  progress: string | null;
}

export interface Lane extends LaneSpec, Pick<LaneRow, "state" | "parked" | "stamp" | "mark" | "blocked"> {
  readonly head: LaneRow["head"];
}

export type GateRecord = Omit<GateInfo, "perValue">;

export interface World {
  readonly units: Map<string, Unit>;
  readonly lanes: Map<string, Lane>;
  readonly gates: Map<string, GateRecord>;
  readonly sessions: Map<string, NewSession & { readonly expiresAt: number }>;
  readonly events: Map<string, EventRow[]>;
  /** Units that no pass has taken in yet. */
  readonly arrivals: Set<string>;
  epoch: number;
}

export const emptyWorld = (): World => ({
  units: new Map(),
  lanes: new Map(),
  gates: new Map(),
  sessions: new Map(),
  events: new Map(),
  arrivals: new Set(),
  epoch: 0,
});

export function tell(world: World, subject: string, what: Omit<EventRow, "subject" | "n">): void {
  const known = world.events.get(subject) ?? [];
  world.events.set(subject, [...known, { subject, n: known.length + 1, ...what }]);
}

/** The order of a line: priority, time, id. */
export const inLine = (
  a: Pick<Unit, "priority" | "at" | "id">,
  b: Pick<Unit, "priority" | "at" | "id">,
): number => b.priority - a.priority || a.at - b.at || (a.id < b.id ? -1 : 1);

/** The claim with this ID and epoch, or undefined if another epoch is current. */
export function current(
  world: World,
  { id, epoch }: { readonly id: string; readonly epoch: number },
): { readonly unit: Unit; readonly claim: Claim } | undefined {
  const unit = world.units.get(id);
  if (unit?.place !== "claimed" || unit.claim?.epoch !== epoch) return undefined;
  return { unit, claim: unit.claim };
}

export const claims = (world: World): { readonly unit: Unit; readonly claim: Claim }[] =>
  [...world.units.values()].flatMap((unit) =>
    unit.place === "claimed" && unit.claim ? [{ unit, claim: unit.claim }] : [],
  );

export function isLost(world: World, now: number, { session, until }: Claim): boolean {
  const holder = world.sessions.get(session);
  return !holder || holder.expiresAt <= now || (until !== null && until <= now);
}
