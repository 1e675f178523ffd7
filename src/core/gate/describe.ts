/**
 * The only place where a reason becomes a sentence. Every surface uses it, so they never disagree. The
 * remedies of a wait are data, in remedy.ts.
 */

import { isOfLocks } from "../lock/request.ts";
import { sharedTitle } from "../shared/lock.ts";
import { isoTime, sayDuration } from "../time.ts";
import { draining, UNLIMITED } from "./gate.ts";
import { parseKey, pausedRun, unreadableKey } from "./key.ts";
import { gateTitle } from "./kind.ts";
import type { Holder, Reason } from "./reason.ts";
import { eachFrontOnce, isMutex } from "./reason.ts";

interface Telling {
  readonly now: number;
  /**
   * Spaces before every line. The reasons of the unit in front go on lines of their own below, two spaces
   * further in. Without it, everything is on one line.
   */
  readonly indent?: number;
}

type Of<Kind extends Reason["kind"]> = Extract<Reason, { kind: Kind }>;

/** Says why a unit waits. The reasons of a front are given only where that front first appears. */
export function describe(reason: Reason, telling: Telling): string {
  const [once] = eachFrontOnce([reason]) as [Reason];
  return line(once, telling);
}

function line(reason: Reason, telling: Telling): string {
  return " ".repeat(telling.indent ?? 0) + sentence(reason, telling);
}

const UNREADABLE = "its asks cannot be read: its row in the store was damaged. Nothing else is blocked";

function sentence(reason: Reason, telling: Telling): string {
  switch (reason.kind) {
    case "full":
      return full(reason, telling);
    case "behind":
      return behind(reason, telling);
    case "paused":
      // All of a run's own gates are paused with it.
      if (isRunsOwn(reason) && !isZero(reason)) return `run ${pausedRun(reason.gate)} is paused`;
      return `${gateTitle(reason.gate)} is paused${isZero(reason) ? " by its limit of 0" : ""}${ahead(reason.ahead)}`;
    case "unset":
      if (reason.gate === unreadableKey) return UNREADABLE;
      return `${gateTitle(reason.gate)} ${reason.replaced ? "no longer has a limit" : "has no limit yet"}, so it admits nothing${ahead(reason.ahead)}${toDeclare(reason)}`;
    case "never":
      return never(reason);
    case "later":
      return later(reason, telling);
    case "needs":
      return `${listed(reason.units, 5)} must finish first`;
    case "awaits":
      return awaited(reason, telling);
    case "busy":
      return busy(reason);
    case "noWorker":
      if (isOfLocks(reason.queue))
        return "the process that asked for it is gone; its request is swept in a moment";
      if (reason.queue.startsWith("@")) return "no worker is running, so no run is admitted or advanced";
      return `no live worker serves queue "${reason.queue}" and knows task "${reason.name}"${ofApps(reason.apps)}`;
    case "shared":
      return lacking(reason);
    case "aside":
      return `it could not be processed and was set aside at ${isoTime(reason.at)}, with its whole lane: ${reason.error}`;
  }
}

const LACKING = {
  unknown: "the sync database knows who holds them and who is ahead",
  away: "nothing that needs them is admitted while the sync database is away",
  soon: "its engine asks for them at its next look",
} as const;

function lacking({ locks, because, error }: Of<"shared">): string {
  const text = `it waits for ${listed(locks.map(sharedTitle), 5)}: ${LACKING[because]}`;
  return error === undefined ? text : `${text} (${error})`;
}

/** The apps whose workers could run it. */
const ofApps = (apps: readonly string[] = []): string =>
  apps.length === 0
    ? ""
    : `, which is a task of app ${listed(
        apps.map((app) => `"${app}"`),
        3,
      )}`;

/** The limit of a pool comes with the app that declares it. */
const toDeclare = ({ gate, undeclared, replaced }: Of<"unset">): string =>
  replaced
    ? `: ${leftOut(replaced)}. Give each app its own name (defineApp({ name })), then deploy both`
    : undeclared && parseKey(gate).kind === "pool"
      ? ": start a worker of the app that declares it, or deploy that app"
      : "";

/** A worker of the earlier version does not bring the limit back: the later deploy applies. */
export const leftOut = ({ app, limit, at }: NonNullable<Of<"unset">["replaced"]>): string =>
  `a later deploy of app "${app}", at ${isoTime(at)}, does not declare it${limit === null ? "" : `; it was ${limit === UNLIMITED ? "unlimited" : limit} before`}`;

function full(reason: Of<"full">, telling: Telling): string {
  const title = `${gateTitle(reason.gate)}${reason.perValue ? ", by its limit per value," : ""}`;
  const use = `${reason.held} of ${reason.limit}`;
  const rest = `${heldBy(reason.holders ?? [], telling)}${ahead(reason.ahead)}`;
  if (draining(reason)) return `${title} is draining: ${use} held${rest}`;
  if (reason.asked > 1) return `${title} has no room for ${reason.asked} slots: ${use} held${rest}`;
  return `${title} is full: ${use} slots held${rest}`;
}

function behind(reason: Of<"behind">, telling: Telling): string {
  const { unit, reasons } = reason.front;
  const start = `${gateTitle(reason.gate)}: ${reason.ahead} waiting ahead${mustEnd(reason)}; ${unit} is in front`;
  if (reasons.length === 0) return start;
  if (telling.indent === undefined)
    return `${start} and waits because ${reasons.map((each) => sentence(each, telling)).join(", and because ")}`;
  const below = { ...telling, indent: telling.indent + 2 };
  return [`${start} and waits because`, ...reasons.map((each) => line(each, below))].join("\n");
}

/** In a mutex there is no room for two, so it does not help this unit that the front starts. */
const mustEnd = ({ gate, limit, asked }: Of<"behind">): string =>
  isMutex(gate) && asked + 1 > limit ? ", which must start and end first, or be cancelled" : "";

/** Says what to wait for, if a reason has no remedy. */
export function waitFor(reason: Reason): string {
  if (reason.kind === "later") return `wait until ${isoTime(reason.at)}`;
  if (reason.kind !== "full" && reason.kind !== "behind") return "wait until this has passed";
  const { gate, ahead: many } = reason;
  const isLock = isMutex(gate);
  const gone = isLock ? "ended" : "started";
  if (reason.kind === "behind") {
    const { unit } = reason.front;
    const others = many > 1 ? ` and ${count(many - 1, "other unit")} ahead have` : " has";
    return `wait until ${unit}${others} ${gone}${isLock ? `, or cancel ${many > 1 ? "them" : "it"}` : ""}`;
  }
  const first =
    many > 0 ? ` and ${many > 1 ? `the ${many} units ahead have` : "the unit ahead has"} ${gone}` : "";
  return `wait until ${gateTitle(gate)} ${isLock ? "is free" : "has room"}${first}`;
}

const isRunsOwn = ({ gate }: Of<"paused">): boolean => parseKey(gate).kind === "run";

/** True if a limit of 0 pauses the gate, false for an explicit pause. */
const isZero = ({ zero, room }: Of<"paused">): boolean => zero === true || room !== undefined;

function busy({ workers, slots, free = 0, ahead: waiting }: Of<"busy">): string {
  const size = `${count(workers, "worker")}, ${count(slots, "slot")}`;
  if (free === 0) return `every worker that serves it is busy: ${size}${ahead(waiting)}`;
  return `work ahead of it takes every free slot of the workers that serve it: ${size}, ${free} free${ahead(waiting)}`;
}

function never({ gate, asked, limit, room = asked }: Of<"never">): string {
  return `${gateTitle(gate)}: asked for ${count(asked, "slot")}, but its limit is ${limit}, so this can never start. Ask for fewer, or raise the limit to ${room}`;
}

function later({ at, because }: Of<"later">, { now }: Telling): string {
  const wait = at > now ? `in ${sayDuration(at - now)}` : "due";
  return `not before ${isoTime(at)} (${wait}), ${because === "retry" ? "retry delay" : "start delay"}`;
}

function awaited(reason: Of<"awaits">, { now }: Telling): string {
  const { until } = reason;
  const end =
    until === null
      ? ""
      : `until ${isoTime(until)} (${until > now ? `in ${sayDuration(until - now)}` : "due"})`;
  if (reason.for === "sleep") return `it sleeps ${end}`;
  if (reason.for === "until") return `it waits ${end}`;
  const limit = end === "" ? "" : `, ${end}`;
  if (reason.for === "event") return `it waits for ${ofEvent(reason)}${limit}`;
  const who = reason.by ? `an answer of ${reason.by.join(" or ")}` : "an answer";
  return `it waits for ${who}${limit}: ${reason.question ?? ""}`;
}

function ofEvent({ event, match = {} }: Of<"awaits">): string {
  const fields = Object.entries(match).map(([field, value]) => `${field} ${JSON.stringify(value)}`);
  return `event "${event}"${fields.length === 0 ? "" : ` with ${fields.join(" and ")}`}`;
}

function heldBy(holders: readonly Holder[], { now }: Telling): string {
  if (holders.length === 0) return "";
  const each = holders.map(({ unit, name, slots, since, stopping }) => {
    const size = slots > 1 ? ` with ${slots} slots` : "";
    const how = stopping ? `, ${sayStopping(stopping, now)}` : ` for ${sayDuration(now - since)}`;
    return `${unit} ${name}${size}${how}`;
  });
  return ` (by ${listed(each, 3)})`;
}

/** "stopping for 3s (cancelled)": since when its code should have ended, and why. */
export function sayStopping(stopping: NonNullable<Holder["stopping"]>, now: number): string {
  return `stopping for ${sayDuration(now - stopping.since)} (${stopping.because})`;
}

function ahead(waiting: number): string {
  return waiting > 0 ? `, ${waiting} waiting ahead` : "";
}

function listed(items: readonly string[], most: number): string {
  const hidden = items.length - most;
  return hidden > 0 ? `${items.slice(0, most).join(", ")} and ${hidden} more` : items.join(", ");
}

function count(many: number, noun: string): string {
  return many === 1 ? `1 ${noun}` : `${many} ${noun}s`;
}
