// A second implementation of `admit`, slow and obvious: while it walks the line, it keeps only the list of
// decisions, and computes every number anew from it. It shares no code with src/core/gate, so a mistake must
// be made twice to go unnoticed.

import type { Mark, Plan, Snapshot, Waiter } from "../../src/core/gate/admit.ts";
import type { Ask, Gate } from "../../src/core/gate/gate.ts";
import type { Place } from "../../src/core/gate/order.ts";
import type { Reason } from "../../src/core/gate/reason.ts";

interface Decided {
  readonly unit: Waiter;
  readonly verdict: "admitted" | "left" | "waits" | "noSlot";
  /** The worker whose slot it takes. */
  readonly worker?: number | undefined;
  readonly reasons: readonly Reason[];
  /** True if it waits only for slots. */
  readonly stands: boolean;
  /** True if it reserves at its strict gates. */
  readonly inLine: boolean;
  /** Set if it is the head of its lane. Its overtakes count from this mark on. */
  readonly counts: Mark | undefined;
  /** True if it reserves at its pools. */
  readonly gathers: boolean;
}

type Standing = Pick<Decided, "stands" | "inLine" | "counts" | "gathers">;

export function naiveAdmit(snapshot: Snapshot): Omit<Plan, "free" | "unseen"> {
  const gates = [...snapshot.gates];
  const known = (key: string): Gate | undefined => gates.find((gate) => gate.key === key);
  const decided: Decided[] = [];
  let more = false;

  for (const unit of sorted(snapshot.line)) {
    if (snapshot.horizon && !isBefore(unit, snapshot.horizon)) {
      more = true;
      break;
    }
    const reasons = unit.asks.flatMap((ask) => inTheWay(ask, known(ask.gate), decided, known));
    const worker = workerFor(unit, snapshot, decided);
    if (reasons.length === 0 && unit.frontier && worker !== "none") {
      more = true;
      break;
    }
    if (reasons.length > 0) {
      decided.push({
        unit,
        verdict: "waits",
        reasons,
        ...placeInLine(unit, reasons, snapshot, decided, known),
      });
    } else {
      const none: Standing = { stands: false, inLine: false, counts: undefined, gathers: false };
      if (worker === "none") {
        decided.push({ unit, verdict: "noSlot", reasons: [noSlot(unit, snapshot, decided)], ...none });
      } else {
        const mine = worker === undefined || snapshot.me === undefined || worker === snapshot.me;
        decided.push({ unit, verdict: mine ? "admitted" : "left", worker, reasons: [], ...none });
      }
    }
  }

  const askedFor = decided.flatMap(({ unit }) => unit.asks.map(({ gate }) => gate));
  const keys = [...new Set([...gates.map(({ key }) => key), ...askedFor])];
  const postponed = postponedUnits(decided, snapshot);
  const waits = decided.filter(({ verdict, unit }) => /waits|noSlot/.test(verdict) && !unit.frontier);
  return {
    admitted: decided.filter(({ verdict }) => verdict === "admitted").map(({ unit }) => unit),
    left: decided.filter(({ verdict }) => verdict === "left").map(({ unit }) => unit),
    waiting: new Map(waits.map(({ unit, reasons }) => [unit.id, reasons])),
    marks: newMarks(snapshot, decided, known),
    held: new Map(keys.map((key) => [key, (known(key)?.held ?? 0) + taken(key, decided, ["admitted"])])),
    more:
      more ||
      decided.some((one) => isOutdated(one, decided, known)) ||
      (postponed.some(({ verdict }) => verdict === "noSlot") &&
        decided.some(({ verdict }) => verdict === "admitted")),
    postponed:
      postponed.some(({ verdict }) => verdict === "left") &&
      !postponed.some(({ verdict }) => verdict === "noSlot"),
  };
}

/**
 * True if it held another unit back but would not any more, because a gate that had room for it is now full.
 */
function isOutdated(
  one: Decided,
  decided: readonly Decided[],
  known: (key: string) => Gate | undefined,
): boolean {
  const named = one.reasons.map((reason) => "gate" in reason && reason.gate);
  const filled = one.unit.asks
    .filter(({ gate }) => !named.includes(gate))
    .filter(({ gate, slots }) => {
      const { limit, held } = known(gate) as Gate & { limit: number };
      return limit > 0 && held + taken(gate, decided, ["admitted"]) + slots > limit;
    })
    .map(({ gate }) => lineAt(one.unit, gate, known));
  const heldBack = decided
    .flatMap(({ reasons }) => reasons)
    .filter((reason) => reason.kind === "behind" && asked(one.unit, reason.gate) > 0)
    .map((reason) => "gate" in reason && lineAt(one.unit, reason.gate, known));
  const strictly = one.inLine && heldBack.includes("strict") && filled.includes("skip");
  const gathering = filled.includes("skip") || filled.includes("strict");
  return strictly || (one.gathers && heldBack.includes("bypass") && gathering);
}

function isBefore(a: Place, b: Place): boolean {
  if (a.rank !== b.rank) return a.rank < b.rank;
  if (a.priority !== b.priority) return a.priority > b.priority;
  if (a.at !== b.at) return a.at < b.at;
  return a.id < b.id;
}

function sorted(line: readonly Waiter[]): Waiter[] {
  const rest = [...line];
  const order: Waiter[] = [];
  while (rest.length > 0) {
    const first = rest.reduce((best, unit) => (isBefore(unit, best) ? unit : best));
    order.push(...rest.splice(rest.indexOf(first), 1));
  }
  return order;
}

function asked(unit: Waiter, gate: string): number {
  return unit.asks.find((ask) => ask.gate === gate)?.slots ?? 0;
}

function taken(gate: string, decided: readonly Decided[], verdicts: readonly Decided["verdict"][]): number {
  return decided
    .filter(({ verdict }) => verdicts.includes(verdict))
    .reduce((sum, { unit }) => sum + asked(unit, gate), 0);
}

function inTheWay(
  ask: Ask,
  gate: Gate | undefined,
  decided: readonly Decided[],
  known: (key: string) => Gate | undefined,
): Reason[] {
  const key = ask.gate;
  const ahead = decided.filter(({ unit, verdict }) => verdict === "waits" && asked(unit, key) > 0).length;
  if (!gate || gate.limit === null) return [{ kind: "unset", gate: key, ahead }];
  if (gate.paused || gate.limit === 0) return [{ kind: "paused", gate: key, ahead }];
  if (gate.limit === -1) return [];
  if (ask.slots > gate.limit) return [{ kind: "never", gate: key, limit: gate.limit, asked: ask.slots }];
  const held = gate.held + taken(key, decided, ["admitted", "left"]);
  const facts = { gate: key, limit: gate.limit, held, asked: ask.slots, ahead };
  if (held + ask.slots > gate.limit) return [{ kind: "full", ...facts }];

  const reserving = decided.filter(
    (one) => asked(one.unit, key) > 0 && reservesAt(one, lineAt(one.unit, key, known)),
  );
  const shut = gate.line === "strict" && reserving.some(({ unit }) => unit.frontier);
  const reserved = reserving.reduce((sum, { unit }) => sum + asked(unit, key), 0);
  if (!shut && held + reserved + ask.slots <= gate.limit) return [];
  const [front] = reserving as [Decided];
  const reasons = front.unit.frontier ? [] : front.reasons;
  return [{ kind: "behind", ...facts, front: { unit: front.unit.id, reasons } }];
}

function reservesAt(one: Decided, line: Gate["line"] | undefined): boolean {
  if (line === "strict") return one.inLine;
  return line === "bypass" && one.gathers;
}

/** A unit may ask at a strict gate to be passed over. */
function lineAt(
  unit: Waiter,
  key: string,
  known: (key: string) => Gate | undefined,
): Gate["line"] | undefined {
  const ask = unit.asks.find(({ gate }) => gate === key);
  return ask?.line ?? known(key)?.line;
}

function placeInLine(
  unit: Waiter,
  reasons: readonly Reason[],
  snapshot: Snapshot,
  decided: readonly Decided[],
  known: (key: string) => Gate | undefined,
): Standing {
  const lines = reasons.map((reason) => "gate" in reason && lineAt(unit, reason.gate, known));
  const stands = reasons.every(({ kind }) => kind === "full" || kind === "behind");
  const inLine = stands && !lines.includes("skip");
  const isHead =
    stands && !unit.frontier && !decided.some((one) => one.stands && one.unit.lane === unit.lane);
  const isBlocked = lines.includes("bypass");
  const old = unit.mark?.unit === unit.id ? unit.mark : undefined;
  const mark = old ?? { unit: unit.id, passed: 0, since: snapshot.now };
  const over = isOver(mark, snapshot);
  const keeps = old !== undefined && lines.every((line) => line === "skip");
  const isFirst = !decided.some((one) => one.gathers && sharePool(one.unit, unit, known));
  const inTheWayOf = reasons.flatMap((reason) => ("gate" in reason ? [reason.gate] : []));
  const goesFirst = decided.some(
    (one) =>
      one.stands &&
      one.reasons.every((reason) => "gate" in reason && lineAt(one.unit, reason.gate, known) === "skip") &&
      (!snapshot.workers || (one.unit.workers ?? []).length > 0) &&
      inTheWayOf.some((gate) => asked(one.unit, gate) > 0 && lineAt(one.unit, gate, known) === "skip"),
  );
  return {
    stands,
    inLine,
    counts: isHead && isBlocked && !(old && over) ? mark : undefined,
    gathers: isHead && (isBlocked || keeps) && over && isFirst && !goesFirst,
  };
}

function sharePool(a: Waiter, b: Waiter, known: (key: string) => Gate | undefined): boolean {
  return a.asks.some(({ gate }) => known(gate)?.line === "bypass" && asked(b, gate) > 0);
}

function newMarks(
  snapshot: Snapshot,
  decided: readonly Decided[],
  known: (key: string) => Gate | undefined,
): Map<string, Mark> {
  const marks = new Map<string, Mark>();
  decided.forEach(({ unit, counts }, index) => {
    if (!counts) return;
    const overtakes = isOver(counts, snapshot)
      ? 0
      : decided
          .slice(index + 1)
          .filter((one) => /admitted|left/.test(one.verdict) && sharePool(one.unit, unit, known)).length;
    if (unit.mark === counts && overtakes === 0) return;
    marks.set(unit.lane, { ...counts, passed: counts.passed + overtakes });
  });
  return marks;
}

function isOver(mark: Mark, { now, bypass = { passes: 100, ms: 60_000 } }: Snapshot): boolean {
  return mark.passed >= bypass.passes || now - mark.since >= bypass.ms;
}

/** Undefined if workers play no part. "none" if no worker has a slot for it. */
function workerFor(
  unit: Waiter,
  snapshot: Snapshot,
  decided: readonly Decided[],
): number | "none" | undefined {
  const { workers, me } = snapshot;
  if (!workers) return undefined;
  const serving = unit.workers ?? [];
  const first = serving.filter((index) => index === me);
  const others = serving.filter((index) => index !== me);
  const found = [...first, ...others].find((index) => {
    const used = decided.filter(({ worker }) => worker === index).length;
    const worker = workers[index];
    const hasSlot = worker !== undefined && worker.used + used < worker.slots;
    return hasSlot && (index !== me || mayClaim(unit, snapshot, decided));
  });
  return found ?? "none";
}

/** A claimer's new claims are bounded by what it has already claimed in this pass. */
function mayClaim(unit: Waiter, { workers = [], me }: Snapshot, decided: readonly Decided[]): boolean {
  if (unit.claimed) return true;
  const { inAll = 1e9, perQueue = 1e9 } = (me === undefined ? undefined : workers[me]?.claims) ?? {};
  const anew = decided.filter(({ unit: other, worker }) => worker === me && !other.claimed);
  return (
    anew.length < inAll && anew.filter(({ unit: other }) => other.queue === unit.queue).length < perQueue
  );
}

/** Units that the claimer had a slot for at their turn but did not take. */
function postponedUnits(decided: readonly Decided[], { workers = [], me }: Snapshot): Decided[] {
  const mine = me === undefined ? undefined : workers[me];
  if (me === undefined || !mine) return [];
  return decided.filter(({ unit, verdict, worker }, index) => {
    const used = decided.slice(0, index).filter((one) => one.worker === me).length;
    const could = unit.workers?.includes(me) && mine.used + used < mine.slots;
    return could && (verdict === "noSlot" || (verdict === "left" && worker !== me));
  });
}

function noSlot(unit: Waiter, { workers = [] }: Snapshot, decided: readonly Decided[]): Reason {
  const serving = unit.workers ?? [];
  if (serving.length === 0) return { kind: "noWorker", queue: unit.queue ?? "", name: unit.name ?? "" };
  const slots = serving.map((index) => workers[index]?.slots ?? 0).reduce((sum, n) => sum + n, 0);
  const ahead = decided.filter(
    ({ unit: other, verdict }) =>
      verdict === "noSlot" && other.workers?.some((index) => serving.includes(index)),
  ).length;
  return { kind: "busy", workers: serving.length, slots, ahead };
}
