/**
 * The one place where a reason becomes a sentence, and where it is known which command would change it. Command
 * line, HTTP, gRPC and web all speak through here, so they never disagree.
 */
import { quoted } from "../shell.ts";
import { isoTime, sayDuration } from "../time.ts";
import { draining, UNLIMITED } from "./gate.ts";
import { clusterKey, parseKey, pausedWith, runsKey, unreadableKey } from "./key.ts";
import type { Holder, Reason } from "./reason.ts";
import { eachFrontOnce, MANY } from "./reason.ts";

export interface Telling {
  readonly now: number;
  /**
   * Spaces before every line, with the reasons of the unit in front on lines of their own below, two further in.
   * Without it everything is one line.
   */
  readonly indent?: number;
}

type Of<Kind extends Reason["kind"]> = Extract<Reason, { kind: Kind }>;

/** How a gate is called in a sentence: `queue "stripe"`, `pool "tenant=acme"`, `the cluster cap`. */
export function gateTitle(key: string): string {
  const { kind, name } = parseKey(key);
  if (key === clusterKey) return "the cluster cap";
  if (key === runsKey) return "the run cap";
  if (kind === "run")
    return name.includes("/") ? runTitle(name.slice(name.indexOf("/") + 1)) : `the pause of run ${name}`;
  return name === "" ? `gate "${key}"` : `${kind} "${key.slice(kind.length + 1)}"`;
}

/** What the executors' limits are called where people write them. */
const EXECUTORS: Readonly<Record<string, string>> = {
  workers: "its run's maxWorkers",
  async: "its run's maxAsyncConcurrent",
  pods: "its run's maxConcurrentSteps",
  "in-process": "its run's in-process executor",
};

/** A gate that one run has for itself. */
function runTitle(name: string): string {
  const [kind, step] = [name.slice(0, name.indexOf("/")), name.slice(name.indexOf("/") + 1)];
  if (kind === "items") return `the window of step "${step}"`;
  return EXECUTORS[name] ?? `its run's own limit "${name}"`;
}

/** Why a unit waits, in words. What holds a front back is told where that front comes first. */
export function describe(reason: Reason, telling: Telling): string {
  const [once] = eachFrontOnce([reason]) as [Reason];
  return line(once, telling);
}

function line(reason: Reason, telling: Telling): string {
  return " ".repeat(telling.indent ?? 0) + sentence(reason, telling);
}

const UNREADABLE =
  "what it asks for cannot be read: its row in the store was damaged. It holds nobody up; sluice doctor names it";

function sentence(reason: Reason, telling: Telling): string {
  switch (reason.kind) {
    case "full":
      return full(reason, telling.now);
    case "behind":
      return behind(reason, telling);
    case "paused":
      // All of a run's own gates are paused with it.
      if (isRunsOwn(reason) && !isZero(reason)) return `run ${runOf(reason.gate)} is paused`;
      return `${gateTitle(reason.gate)} is paused${isZero(reason) ? " by its limit of 0" : ""}${ahead(reason.ahead)}`;
    case "unset":
      if (reason.gate === unreadableKey) return UNREADABLE;
      return `${gateTitle(reason.gate)} has no limit ${reason.replaced ? "any more" : "yet"}, so it admits nobody${ahead(reason.ahead)}${toDeclare(reason)}`;
    case "never":
      return never(reason);
    case "later":
      return later(reason, telling.now);
    case "needs":
      return `${listed(reason.units, 5)} must finish first`;
    case "busy":
      return busy(reason);
    case "noWorker":
      if (reason.queue.startsWith("@"))
        return "no worker is running, so nobody lets runs in or moves them on";
      return `no live worker serves queue "${reason.queue}" and knows task "${reason.name}"`;
    case "aside":
      return `it could not be processed and was set aside at ${isoTime(reason.at)}, with all of its kind: ${reason.error}`;
  }
}

/** The command that would change it; undefined where only time or other work can. */
export function remedy(reason: Reason): string | undefined {
  const [once] = eachFrontOnce([reason]) as [Reason];
  return command(once);
}

function command(reason: Reason): string | undefined {
  switch (reason.kind) {
    case "full":
      return raise(reason);
    case "never":
      return setLimit(reason.gate, reason.room ?? reason.asked);
    case "unset":
      if (reason.gate === unreadableKey) return "sluice doctor";
      return setLimit(reason.gate, reason.room ?? "LIMIT");
    case "paused":
      if (reason.zero) return `sluice limits reset ${quoted(reason.gate)}`;
      return reason.room === undefined ? resume(reason.gate) : setLimit(reason.gate, reason.room);
    case "behind":
      return pastTheFront(reason);
    case "busy":
      return "sluice worker app.ts";
    case "noWorker":
      if (reason.queue.startsWith("@")) return "sluice worker app.ts";
      return `sluice worker app.ts${reason.queue && ` --queues=${quoted(reason.queue)}`}`;
    case "aside":
      return `sluice tasks restore ${reason.lane}`;
    default:
      return undefined;
  }
}

/** What lets it in beside those ahead. Where they are too many, or not all of them are known, it is time that helps. */
function raise({ gate, held, asked, ahead, room }: Of<"full">): string | undefined {
  if (room !== undefined) return setLimit(gate, room);
  return ahead > 0 ? undefined : setLimit(gate, held + asked);
}

/** Room for those ahead and for itself; where that is not known, what moves the front. */
function pastTheFront({ gate, ahead, room, front }: Of<"behind">): string | undefined {
  if (room !== undefined) return ahead > MANY ? undefined : setLimit(gate, room);
  return front.reasons.map(command).find((found) => found !== undefined);
}

/** The limit of a pool comes with the app that declares it. */
const toDeclare = ({ gate, undeclared, replaced }: Of<"unset">): string =>
  replaced
    ? `: ${leftOut(replaced)}. Two apps need a name each (defineApp({ name })); then deploy both`
    : undeclared && parseKey(gate).kind === "pool"
      ? ": start a worker of the app that declares it, or: sluice deploy app.ts"
      : "";

/** A worker of the earlier version does not bring it back: the later deploy holds. */
export const leftOut = ({ app, limit, at }: NonNullable<Of<"unset">["replaced"]>): string =>
  `a later deploy of app "${app}", at ${isoTime(at)}, does not declare it${limit === null ? "" : `; before, it was ${limit === UNLIMITED ? "unlimited" : limit}`}`;

/** Each kind of pause has its own way back. */
function resume(gate: string): string {
  const { kind, name } = parseKey(gate);
  if (kind === "queue") return `sluice queues resume ${quoted(name)}`;
  if (kind === "run") return `sluice runs resume ${runOf(gate)}`;
  return setLimit(gate, "LIMIT");
}

function full(reason: Of<"full">, now: number): string {
  const title = `${gateTitle(reason.gate)}${reason.perValue ? ", by its limit per value," : ""}`;
  const use = `${reason.held} of ${reason.limit}`;
  const rest = `${heldBy(reason.holders ?? [], now)}${ahead(reason.ahead)}`;
  if (draining(reason)) return `${title} is draining: ${use} held${rest}`;
  if (reason.asked > 1) return `${title} has no room for ${reason.asked} slots: ${use} held${rest}`;
  return `${title} is full: ${use} slots held${rest}`;
}

function behind(reason: Of<"behind">, telling: Telling): string {
  const { unit, reasons } = reason.front;
  const start = `${gateTitle(reason.gate)}: ${reason.ahead} waiting ahead; ${unit} is in front`;
  if (reasons.length === 0) return start;
  if (telling.indent === undefined)
    return `${start} and waits because ${reasons.map((each) => sentence(each, telling)).join(", and because ")}`;
  const below = { ...telling, indent: telling.indent + 2 };
  return [`${start} and waits because`, ...reasons.map((each) => line(each, below))].join("\n");
}

const runOf = (gate: string): string => pausedWith(gate).slice("run:".length);

const isRunsOwn = ({ gate }: Of<"paused">): boolean => parseKey(gate).kind === "run";

/** A limit of 0, and not a pause beside it. */
const isZero = ({ zero, room }: Of<"paused">): boolean => zero === true || room !== undefined;

function busy({ workers, slots, free = 0, ahead: waiting }: Of<"busy">): string {
  const size = `${count(workers, "worker")}, ${count(slots, "slot")}`;
  if (free === 0) return `every worker that serves it is busy: ${size}${ahead(waiting)}`;
  return `those ahead of it take every free slot of the workers that serve it: ${size}, ${free} free${ahead(waiting)}`;
}

function never({ gate, asked, limit, room = asked }: Of<"never">): string {
  const larger = setLimit(gate, room);
  return `${gateTitle(gate)}: asked for ${count(asked, "slot")}, but its limit is ${limit}, so this can never start. Ask for fewer, or: ${larger}`;
}

function later({ at, because }: Of<"later">, now: number): string {
  const wait = at > now ? `in ${sayDuration(at - now)}` : "due";
  return `not before ${isoTime(at)} (${wait}), ${because === "retry" ? "retry delay" : "start delay"}`;
}

function heldBy(holders: readonly Holder[], now: number): string {
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

function setLimit(gate: string, limit: number | string): string {
  return `sluice limits set ${quoted(gate)} ${limit}`;
}
