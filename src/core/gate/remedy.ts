/**
 * Remedies for a wait, as data. There is none if only time or other work helps. A remedy of the unit in front
 * is none for the units behind it: once the front has started, it holds the slots that were kept for it.
 */
import type { Remedy } from "../remedy.ts";
import { parseKey, pausedRun, unreadableKey } from "./key.ts";
import type { Reason } from "./reason.ts";
import { isMutex, MANY } from "./reason.ts";

type Of<Kind extends Reason["kind"]> = Extract<Reason, { kind: Kind }>;

/** The remedy that is sure to help. Undefined if only time or other work can. */
export const remedy = (reason: Reason): Remedy | undefined => remedies(reason)[0];

/** All remedies, the surest first. */
export function remedies(reason: Reason): readonly Remedy[] {
  switch (reason.kind) {
    case "full":
      return raise(reason);
    case "never":
      return [setLimit(reason.gate, reason.room ?? reason.asked)];
    case "unset":
      return declare(reason);
    case "paused":
      if (reason.zero || (isMutex(reason.gate) && reason.room !== undefined))
        return [{ action: "resetLimit", gate: reason.gate }];
      return [reason.room === undefined ? resume(reason.gate) : setLimit(reason.gate, reason.room)];
    case "behind":
      return pastTheFront(reason);
    case "busy":
      return [{ action: "startWorker" }];
    case "noWorker":
      return [
        isAnyQueue(reason.queue) ? { action: "startWorker" } : { action: "startWorker", queue: reason.queue },
      ];
    case "aside":
      return [{ action: "restoreLane", lane: reason.lane }];
    case "awaits":
      return toAnswer(reason);
    case "later":
    case "needs":
      return [];
  }
}

/** A person can answer, or send what the step waits for. */
function toAnswer({ run, step, event, match = {}, by, ...reason }: Of<"awaits">): readonly Remedy[] {
  if (reason.for === "approval") return [{ action: "approve", run, step, ...(by ? { by } : {}) }];
  return event === undefined ? [] : [{ action: "signal", event, match }];
}

/** Any worker can admit runs. */
const isAnyQueue = (queue: string): boolean => queue === "" || queue.startsWith("@");

/**
 * A limit that admits it along with the units ahead. If there are too many of them, or not all are known,
 * only time helps.
 */
function raise({ gate, held, asked, ahead, room }: Of<"full">): readonly Remedy[] {
  if (isMutex(gate)) return [];
  if (room !== undefined) return [setLimit(gate, room)];
  return ahead > 0 ? [] : [setLimit(gate, held + asked)];
}

/** A limit with room for the units ahead and for the unit itself. */
function pastTheFront({ gate, ahead, room }: Of<"behind">): readonly Remedy[] {
  return room === undefined || isMutex(gate) || ahead > MANY ? [] : [setLimit(gate, room)];
}

/**
 * The limit of a pool comes with the app that declares it. If a later deploy of that app left it out,
 * deploying does not bring it back.
 */
function declare({ gate, room, undeclared, replaced }: Of<"unset">): readonly Remedy[] {
  if (gate === unreadableKey) return [{ action: "inspect" }];
  const set = setLimit(gate, room);
  return undeclared && !replaced && parseKey(gate).kind === "pool" ? [set, { action: "deploy" }] : [set];
}

/**
 * What to do before and after the remedies of these reasons, if no order of them is sure. Undefined if the
 * order is sure, or if nothing makes it so.
 */
export function shelter(
  reasons: readonly Reason[],
): { readonly before: Remedy; readonly after: Remedy } | undefined {
  const pause = reasons.find(({ contested }) => contested)?.contested?.pause;
  if (pause === undefined) return undefined;
  const queue = parseKey(pause).name;
  return { before: { action: "pauseQueue", queue }, after: { action: "resumeQueue", queue } };
}

/** Each kind of pause is resumed in its own way. */
function resume(gate: string): Remedy {
  const { kind, name } = parseKey(gate);
  if (kind === "queue") return { action: "resumeQueue", queue: name };
  if (kind === "run") return { action: "resumeRun", run: pausedRun(gate) };
  return setLimit(gate);
}

const setLimit = (gate: string, limit?: number): Remedy => ({
  action: "setLimit",
  gate,
  ...(limit === undefined ? {} : { limit }),
});
