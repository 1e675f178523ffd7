/** What would end a wait, as data. Where only time or other work helps, there is nothing to do. */
import type { Remedy } from "../remedy.ts";
import { parseKey, pausedRun, unreadableKey } from "./key.ts";
import type { Reason } from "./reason.ts";
import { eachFrontOnce, MANY } from "./reason.ts";

type Of<Kind extends Reason["kind"]> = Extract<Reason, { kind: Kind }>;

/** The one that is sure to help; undefined where only time or other work can. */
export const remedy = (reason: Reason): Remedy | undefined => remedies(reason)[0];

/** All of them, the surest first. */
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
      if (reason.zero) return [{ action: "resetLimit", gate: reason.gate }];
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

/** Runs are let in by every worker. */
const isAnyQueue = (queue: string): boolean => queue === "" || queue.startsWith("@");

/** What lets it in beside those ahead. Where they are too many, or not all of them are known, it is time that helps. */
function raise({ gate, held, asked, ahead, room }: Of<"full">): readonly Remedy[] {
  if (room !== undefined) return [setLimit(gate, room)];
  return ahead > 0 ? [] : [setLimit(gate, held + asked)];
}

/** Room for those ahead and for itself; where that is not known, what moves the front. */
function pastTheFront({ gate, ahead, room, front }: Of<"behind">): readonly Remedy[] {
  if (room !== undefined) return ahead > MANY ? [] : [setLimit(gate, room)];
  return front.reasons.map(cures).find((found) => found.length > 0) ?? [];
}

/** The limit of a pool comes with the app that declares it. What a later deploy left out, no deploy of it brings back. */
function declare({ gate, room, undeclared, replaced }: Of<"unset">): readonly Remedy[] {
  if (gate === unreadableKey) return [{ action: "inspect" }];
  const set = setLimit(gate, room);
  return undeclared && !replaced && parseKey(gate).kind === "pool" ? [set, { action: "deploy" }] : [set];
}

/** Each kind of pause has its own way back. */
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
