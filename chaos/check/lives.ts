/** The life of each claim, assembled from the audit: its grant, its end, and what became of its task. */
import type { Audited, Claim } from "../history.ts";

export interface ClaimLife extends Claim {
  readonly granted: number;
  /** When its row was deleted. Undefined while it exists. */
  ended?: number;
  endStamp?: number;
  /** Where its task went. */
  to?: {
    readonly place: string;
    readonly attempt: number;
    readonly losses: number;
    readonly epoch: number | null;
  };
  /** Until when it kept its slots. Set if its code had not ended when its claim did. */
  heldUntil?: number;
  /** The end of its session's lease, as known when the claim ended. */
  expires: number;
  /** True if its session was gone from the table by then. */
  sessionGone: boolean;
}

export interface SessionLife {
  readonly id: string;
  readonly pid: number;
  opened: number;
  expires: number;
  closed?: number;
}

export interface Lives {
  readonly claims: readonly ClaimLife[];
  readonly byEpoch: ReadonlyMap<number, ClaimLife>;
  readonly ofTask: ReadonlyMap<string, readonly ClaimLife[]>;
  readonly sessions: ReadonlyMap<string, SessionLife>;
}

/**
 * Between two claims of a task, the first ends in exactly one way: its row is deleted, and the task gets
 * another place. Which of the two the triggers write first differs between the databases.
 */
export function livesOf(audit: readonly Audited[]): Lives {
  const byEpoch = new Map<number, ClaimLife>();
  const ofTask = new Map<string, ClaimLife[]>();
  const sessions = new Map<string, SessionLife>();
  for (const event of audit) {
    if (event.kind === "session") {
      const known = sessions.get(event.session);
      if (known) known.expires = event.expires;
      else
        sessions.set(event.session, {
          id: event.session,
          pid: Number(event.name.split(":").at(-1)),
          opened: event.at,
          expires: event.expires,
        });
    } else if (event.kind === "sessionEnd") {
      const known = sessions.get(event.session);
      if (known) known.closed = event.at;
    } else if (event.kind === "claim") {
      const life: ClaimLife = { ...event, granted: event.at, expires: 0, sessionGone: false };
      byEpoch.set(event.epoch, life);
      ofTask.set(event.task, [...(ofTask.get(event.task) ?? []), life]);
    } else if (event.kind === "change") {
      const life = byEpoch.get(event.epoch);
      if (life) Object.assign(life, { held: event.held, until: event.until });
    } else if (event.kind === "release") {
      const life = byEpoch.get(event.epoch);
      const session = sessions.get(event.session);
      if (!life) continue;
      life.ended = event.at;
      life.endStamp = event.stamp;
      life.expires = session?.expires ?? 0;
      life.sessionGone = session === undefined || session.closed !== undefined;
    } else if (event.kind === "stopped") {
      // It held its slots until now, although its claim had ended.
      const life = byEpoch.get(event.epoch);
      if (life) life.heldUntil = event.at;
    } else if (event.kind === "stopping") {
      const life = byEpoch.get(event.epoch);
      if (life) life.heldUntil = Number.POSITIVE_INFINITY;
    } else if (event.kind === "place" || event.kind === "outcome") {
      const life = ofTask.get(event.task)?.at(-1);
      if (!life || life.to) continue;
      const place = event.kind === "place" ? event.place : event.state;
      const epoch = event.kind === "outcome" ? event.epoch : null;
      life.to = { place, attempt: event.attempt, losses: event.losses, epoch };
    }
  }
  return { claims: [...byEpoch.values()], byEpoch, ofTask, sessions };
}

/** True if the pass that ended the claim judged its holder lost. */
export const wasLost = (life: ClaimLife): boolean => life.to !== undefined && life.to.losses > life.losses;

/** True if the claim was given back before it started. */
export const wasReturned = (life: ClaimLife): boolean =>
  life.to !== undefined && life.to.losses === life.losses && life.to.attempt === life.attempt - 1;
