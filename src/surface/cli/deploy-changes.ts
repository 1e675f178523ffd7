/** What a deploy changed in the store: limits, leases, ranks and triggers, compared before and after it. */
import type { LimitView } from "../../api/limits.ts";
import type { TriggerView } from "../../api/schedules.ts";
import type { Sluice } from "../../api/sluice.ts";
import { stricter } from "../../core/gate/declared.ts";
import type { Limit } from "../../core/gate/gate.ts";
import { formatDuration } from "../../core/time.ts";
import type { QueueRow } from "../../store/store.ts";
import { sayLimit } from "./say.ts";
import { whenOf } from "./schedules.ts";
import { safe } from "./text.ts";

/** Everything that a deploy can change. */
interface Deployable {
  readonly limits: readonly LimitView[];
  readonly queues: readonly QueueRow[];
  readonly triggers: readonly TriggerView[];
}

export async function deployable(sluice: Sluice): Promise<Deployable> {
  const [limits, queues, triggers] = await Promise.all([
    sluice.limits.list(),
    sluice.queues.list(),
    sluice.schedules.list(),
  ]);
  return { limits, queues, triggers };
}

interface LimitChange {
  readonly of: "limit";
  readonly key: string;
  /** True if the deploy created the gate. Then `from` is null. */
  readonly isNew: boolean;
  readonly from: Limit;
  readonly to: Limit;
  /** Other apps whose own limit is less strict than the one that this deploy sets. */
  readonly tightens: readonly string[];
  /** True if this was the app's own limit, and the app no longer declares it. */
  readonly leftOut: boolean;
}

interface LeaseChange {
  readonly of: "lease";
  readonly key: string;
  /** In milliseconds. Null is none of its own. */
  readonly from: number | null;
  readonly to: number | null;
}

interface RankChange {
  readonly of: "rank";
  readonly queue: string;
  readonly from: number;
  readonly to: number;
}

type Declared = Pick<TriggerView, "workflow" | "spec">;

interface TriggerChange {
  readonly of: TriggerView["kind"];
  readonly id: string;
  /** Null if no app declared it. */
  readonly from: Declared | null;
  readonly to: Declared | null;
}

type Change = LimitChange | LeaseChange | RankChange | TriggerChange;

export function changesOf(before: Deployable, after: Deployable, app: string): Change[] {
  const limits = new Map(before.limits.map((view) => [view.key, view]));
  const ranks = new Map(before.queues.map(({ name, rank }) => [name, rank]));
  const triggers = new Map(before.triggers.map((view) => [nameOf(view), view]));
  return [
    ...after.limits.flatMap((view) => limitChange(view, limits.get(view.key), app)),
    ...after.limits.flatMap((view) => leaseChange(view, limits.get(view.key))),
    ...after.queues.flatMap(({ name, rank }) => rankChange(name, ranks.get(name) ?? UNRANKED, rank)),
    ...after.triggers.flatMap((view) => triggerChange(view, triggers.get(nameOf(view)))),
  ];
}

/** The rank of a queue that no app has given one. */
const UNRANKED = 100;

const nameOf = ({ kind, id }: TriggerView): string => `${kind} ${id}`;

function limitChange(view: LimitView, was: LimitView | undefined, app: string): LimitChange[] {
  const { key, limit: to, said } = view;
  const own = said.find((each) => each.app === app)?.limit ?? null;
  // A queue without a limit brings a new gate, too. It limits nothing.
  if (was ? was.limit === to : own === null) return [];
  const others = said.filter((each) => each.app !== app && isLooser(each.limit, to));
  const tightens = own === to ? others.map((each) => each.app) : [];
  const leftOut =
    own === null && (was?.said.some((each) => each.app === app && each.limit !== null) ?? false);
  return [{ of: "limit", key, isNew: !was, from: was?.limit ?? null, to, tightens, leftOut }];
}

/** An app that declares the same limit is not bound by this one. */
const isLooser = (limit: Limit, than: Limit): boolean =>
  limit !== null && limit !== than && stricter(limit, than) === than;

/** A limit that comes or goes takes its lease with it. */
function leaseChange({ key, limit, leaseMs: to }: LimitView, was: LimitView | undefined): LeaseChange[] {
  if (!was || was.limit === null || limit === null || was.leaseMs === to) return [];
  return [{ of: "lease", key, from: was.leaseMs, to }];
}

const rankChange = (queue: string, from: number, to: number): RankChange[] =>
  from === to ? [] : [{ of: "rank", queue, from, to }];

function triggerChange(view: TriggerView, was: TriggerView | undefined): TriggerChange[] {
  const [from, to] = [declaredIn(was), declaredIn(view)];
  if (JSON.stringify(from) === JSON.stringify(to)) return [];
  return [{ of: view.kind, id: view.id, from, to }];
}

const declaredIn = (view: TriggerView | undefined): Declared | null =>
  view && view.app !== null ? { workflow: view.workflow, spec: view.spec } : null;

export function sayDeployed(change: Change): string {
  if (change.of === "limit") return `  ${safe(change.key)}: ${sayLimitChange(change)}`;
  if (change.of === "lease")
    return `  ${safe(change.key)}: lease ${sayLease(change.from)} → ${sayLease(change.to)}`;
  if (change.of === "rank") return `  queue:${safe(change.queue)}: rank ${change.from} → ${change.to}`;
  return `  ${change.of} ${safe(change.id)}: ${safe(sayTriggerChange(change))}`;
}

function sayLimitChange({ isNew, from, to, tightens, leftOut }: LimitChange): string {
  const whom = tightens.map((app) => `"${app}"`).join(", ");
  const why = whom
    ? `; this also binds app ${whom}: the stricter limit applies`
    : leftOut
      ? "; this app no longer declares it"
      : "";
  return isNew ? `new, ${sayLimit(to)}` : `${sayLimit(from)} → ${sayLimit(to)}${why}`;
}

const sayLease = (ms: number | null): string => (ms === null ? "none" : formatDuration(ms));

function sayTriggerChange({ of: kind, from, to }: TriggerChange): string {
  if (to === null) return "this app no longer declares it";
  const after = whenOf({ kind, spec: to.spec });
  if (from === null) return `new, ${after}`;
  const before = whenOf({ kind, spec: from.spec });
  const parts = [
    ...(before === after ? [] : [`${before} → ${after}`]),
    ...(from.workflow === to.workflow
      ? []
      : [`workflow ${from.workflow ?? "any"} → ${to.workflow ?? "any"}`]),
    ...others(from.spec, to.spec),
  ];
  return parts.join(", ");
}

/** Settings that the time of a schedule, or the workflows of an automation, do not show. */
function others(from: Declared["spec"], to: Declared["spec"]): string[] {
  const fields = [...new Set([...Object.keys(from), ...Object.keys(to)])].filter(
    (field) => !SHOWN.has(field) && from[field] !== to[field],
  );
  return fields.map((field) => `${field} ${String(from[field])} → ${String(to[field])}`);
}

const SHOWN: ReadonlySet<string> = new Set(["cron", "timezone", "everyMs", "when"]);
