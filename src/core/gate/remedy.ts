/** Remedies for a wait, as data. There is none if only time or other work helps. */
import type { Remedy } from "../remedy.ts";
import { parseKey, pausedRun, unreadableKey } from "./key.ts";
import type { Reason } from "./reason.ts";
import { eachFrontOnce, MANY } from "./reason.ts";

type Of<Kind extends Reason["kind"]> = Extract<Reason, { kind: Kind }>;

/** The remedy that is sure to help. Undefined if only time or other work can. */
export const remedy = (reason: Reason): Remedy | undefined => remedies(reason)[0];

/** All remedies, the surest first. */
export function remedies(reason: Reason): readonly Remedy[] {
  const [once] = eachFrontOnce([reason]);
  return once ? cures(once) : [];
}

function cures(reason: Reason): readonly Remedy[] {
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
    case "later":
    case "needs":
      return [];
  }
}

/** A mutex is for one holder, so a larger limit would break what it guards. Its holder must end. */
const isMutex = (gate: string): boolean => parseKey(gate).kind === "mutex";

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

/** A limit with room for the units ahead and for the unit itself. If it is not known, the remedy for the front. */
function pastTheFront({ gate, ahead, room, front }: Of<"behind">): readonly Remedy[] {
  if (room !== undefined && !isMutex(gate)) return ahead > MANY ? [] : [setLimit(gate, room)];
  return front.reasons.map(cures).find((found) => found.length > 0) ?? [];
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
