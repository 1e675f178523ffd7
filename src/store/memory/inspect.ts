/** Collects everything that the doctor looks at, by simple walks over the tables. It judges nothing. */
import { LINES, UNLIMITED } from "../../core/gate/gate.ts";
import { asksOf, isAsks } from "../lane.ts";
import { RUNS, waitSubject } from "../runs.ts";
import { SCHEMA_VERSION } from "../schema.ts";
import type { Contradiction, InspectedGate, Inspection, LostClaim, Sample } from "../store.ts";
import { asides } from "./aside.ts";
import { isLost } from "./look.ts";
import { gates } from "./read.ts";
import { isStillStopping, stopping } from "./stopping.ts";
import type { LaneRecord, RunningRecord, StoppingRecord, Tables } from "./tables.ts";
import { headOf, inLine, pairKey } from "./tables.ts";

export function inspect(tables: Tables, now: number): Inspection {
  const alive = tables.session.all().filter(({ id, expiresAt }) => id !== RUNS && expiresAt > now);
  return {
    now,
    schema: SCHEMA_VERSION,
    gates: gates(tables, now).map((gate): InspectedGate => {
      const record = tables.gate.get(gate.key);
      const [last] = tables.event.of(gate.key).filter(({ n }) => n === record?.n);
      const to = last && (JSON.parse(last.data ?? "{}") as { to?: number | null }).to;
      return {
        ...gate,
        grantedAt: grantedAt(tables, now, gate.key),
        changed: last ? { at: last.at, limit: to ?? null } : null,
      };
    }),
    sessions: alive.map(({ id, name, slots, serves, startedAt }) => ({ id, name, slots, serves, startedAt })),
    lost: tables.running
      .all()
      .filter((claim) => isLost(tables, now, claim))
      .slice(0, 200)
      .map((claim) => lostClaim(tables, now, claim)),
    stopping: stopping(tables),
    waiting: waiting(tables),
    rows: {
      task: tables.task.all().length,
      waiting: tables.waiting.all().length,
      later: tables.later.all().length,
      running: tables.running.all().length,
      outcome: tables.outcome.all().length,
      event: tables.event.all().length,
    },
    broken: broken(tables),
    settings: {},
    aside: asides(tables),
  };
}

/** A prefetched claim takes its slots when it starts; all other claims take them when they are made. */
function grantedAt(tables: Tables, now: number, gate: string): number | null {
  const asks = ({ lane }: { readonly lane: string }): boolean =>
    asksOf(tables.lane.get(lane)?.asks ?? "[]").some((ask) => ask.gate === gate);
  const grants = tables.running
    .all()
    .filter((claim) => claim.held && !isLost(tables, now, claim) && asks(claim));
  const times = grants.map(({ id, claimedAt, claimedN }) => {
    const started = tables.event.of(id).find(({ n, kind }) => n > claimedN && kind === "TaskStarted");
    return started?.at ?? claimedAt;
  });
  for (const claim of tables.stopping.all())
    if (!isLost(tables, now, claim) && asks(claim)) times.push(claim.claimedAt);
  return times.length > 0 ? Math.max(...times) : null;
}

function lostClaim(tables: Tables, now: number, { id, epoch, session, untilAt }: RunningRecord): LostClaim {
  const ends = [tables.session.get(session)?.expiresAt, untilAt].filter((end) => typeof end === "number");
  const past = ends.filter((end) => end <= now);
  const { queue = "", name = "" } = tables.task.get(id) ?? {};
  return { id, epoch, queue, task: name, forMs: past.length > 0 ? now - Math.min(...past) : null };
}

function waiting(tables: Tables): Inspection["waiting"] {
  const groups = new Map<string, { queue: string; task: string; units: number }>();
  for (const { id } of tables.waiting.all()) {
    const task = tables.task.get(id);
    if (!task) continue;
    const key = JSON.stringify([task.queue, task.name]);
    const units = (groups.get(key)?.units ?? 0) + 1;
    groups.set(key, { queue: task.queue, task: task.name, units });
  }
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  return [...groups.values()].sort((a, b) => compare(a.queue, b.queue) || compare(a.task, b.task));
}

function broken(tables: Tables): Record<Contradiction, Sample> {
  const units = [tables.waiting, tables.later, tables.outcome];
  const places = (id: string): number =>
    units.filter((table) => table.has(id)).length + Math.min(1, tables.running.of(id).length);
  const tasks = tables.task.all();
  const claims = tables.running.all();
  const bodiless = (["waiting", "later", "running", "outcome", "stopping", "deadline"] as const).flatMap(
    (name) =>
      tables[name]
        .all()
        .filter(({ id }) => !tables.task.has(id))
        .map(({ id }) => `${name} ${id}`),
  );
  const announced = new Set(tables.arrival.all().map(({ lane }) => lane));
  const isFindable = (lane: string): boolean =>
    announced.has(lane) || (tables.lane.get(lane)?.state ?? "idle") !== "idle";
  const parked = tables.lane
    .all()
    .filter(({ state, parked }) => state === "parked" && !tables.gate.has(parked ?? ""));
  return {
    nowhere: sample(tasks.filter(({ id }) => places(id) === 0)),
    twice: sample(tasks.filter(({ id }) => places(id) > 1)),
    bodiless: sample(bodiless.map((id) => ({ id }))),
    claimedTwice: sample(
      claims.filter(({ id, epoch }) => tables.running.of(id).length > 1 || tables.stopping.has(epoch)),
    ),
    uncounted: sample([...claims, ...tables.stopping.all()].filter(({ lane }) => !tables.lane.has(lane))),
    unreleased: sample(tables.stopping.all().filter((row) => isUnreleased(tables, row))),
    ...brokenWaits(tables),
    unborn: sample(
      [...claims, ...tables.stopping.all(), ...tables.outcome.all()].filter(
        ({ epoch }) => (epoch ?? 0) > tables.lastEpoch,
      ),
    ),
    lateHeads: sample(tables.lane.all().filter((lane) => hasLateHead(tables, lane))),
    unfindable: sample(tables.waiting.all().filter(({ lane }) => !isFindable(lane))),
    parkedNowhere: {
      ...sample(parked.map(({ id, parked }) => ({ id: `${id} on ${parked ?? "no gate"}` }))),
      gates: parked.flatMap(({ parked }) => parked ?? []),
    },
    malformedGates: sample(
      tables.gate
        .all()
        .filter(isMalformed)
        .map(({ name }) => ({ id: name })),
    ),
    // Only the verbs write here, and they refuse such names.
    misnamedGates: sample([]),
    missingGates: sample(
      tables.declared
        .all()
        .filter(({ gate, capacity }) => capacity !== null && !tables.gate.has(gate))
        .map(({ gate }) => ({ id: gate })),
    ),
    malformedTasks: sample(tasks.filter(({ asks }) => !isAsks(asks))),
  };
}

function brokenWaits(tables: Tables): Record<"leftWaits" | "endlessWaits" | "unheardAnswers", Sample> {
  const waits = tables.wait.all();
  const named = (steps: readonly { readonly run: string; readonly step: string }[]): Sample =>
    sample(steps.map((step) => ({ id: waitSubject(step) })));
  const isInProgress = (run: string): boolean => tables.running.of(run).length > 0;
  const steps = tables.step.all().map(({ name, ...step }) => ({ ...step, step: name }));
  const bare = steps.filter(
    ({ run, step, state, unit, lane }) =>
      state === "open" &&
      unit === null &&
      lane === null &&
      isInProgress(run) &&
      !tables.wait.has(pairKey(run, step)),
  );
  const timeless = waits.filter(
    (wait) => wait.state === null && wait.late && !tables.timer.has(pairKey(waitSubject(wait), "wait")),
  );
  const inTheNews = new Set(tables.news.all().map(({ run }) => run));
  return {
    leftWaits: named(
      waits.filter(
        ({ run }) =>
          !isInProgress(run) && !(tables.waiting.has(run) && tables.run.get(run)?.beganAt !== null),
      ),
    ),
    endlessWaits: named([...bare, ...timeless]),
    unheardAnswers: named(
      waits.filter(
        ({ run, step, state }) =>
          state !== null &&
          tables.step.get(pairKey(run, step))?.state === "open" &&
          !inTheNews.has(run) &&
          !tables.waiting.has(run),
      ),
    ),
  };
}

const isUnreleased = (tables: Tables, { id, session }: StoppingRecord): boolean =>
  session === RUNS && !isStillStopping(tables, id) && !tables.news.all().some(({ run }) => run === id);

function hasLateHead(tables: Tables, lane: LaneRecord): boolean {
  const [first] = tables.waiting.of(lane.id).sort(inLine);
  if (lane.state === "idle" || lane.state === "aside" || !first || inLine(first, headOf(lane)) >= 0)
    return false;
  const announced = tables.arrival.all().filter((arrival) => arrival.lane === lane.id);
  return !announced.some(({ precedence, at, unit }) => inLine({ precedence, at, id: unit }, first) <= 0);
}

const isMalformed = ({
  capacity,
  declared,
  line,
}: {
  capacity: number | null;
  declared: number | null;
  line: string;
}): boolean =>
  (capacity ?? 0) < UNLIMITED || (declared ?? 0) < UNLIMITED || !LINES.some((known) => known === line);

function sample(rows: readonly { readonly id: string }[]): Sample {
  const ids = [...new Set(rows.map(({ id }) => id))].sort();
  return { ids: ids.slice(0, 10), more: ids.length > 10 };
}
