/**
 * Decides what becomes of claims whose holder is gone. It does so inside the pass, so recovery never has to
 * win a race.
 */

import { afterLoss } from "../../core/task/retry.ts";
import { storedOptions } from "../../core/unit-options.ts";
import { failureOf } from "../../store/failure-of.ts";
import type { Claimed, LostRow, News, Recovery, Revoked, View } from "../../store/store.ts";

export function recoveries(view: View): Recovery[] {
  return view.lost.map((lost) => recoveryOf(lost, view.now));
}

/** The news that recovery leaves: a step of a run has ended, or a run that may have begun before it rested. */
export function newsOf(view: View, recovered: readonly Recovery[]): News[] {
  const options = new Map(view.lost.map((lost) => [lost.id, lost.options]));
  return recovered.flatMap(({ id, to }): News[] | News => {
    if (!isOver(to)) return [];
    if (storedOptions(options.get(id) ?? "").releases) return [{ run: id, failed: null }];
    return newsOfStep({ options: options.get(id) ?? "" }, false) ?? [];
  });
}

function recoveryOf(lost: LostRow, now: number): Recovery {
  const losses = lost.losses + 1;
  const { retry: policy, onStartTimeout, request } = storedOptions(lost.options);
  // Its process has lost the lock, and asks again if it still wants it.
  if (request) return { id: lost.id, epoch: lost.epoch, to: "gone", body: null };
  if (onStartTimeout === "requeue") return { id: lost.id, epoch: lost.epoch, to: "waiting", body: null };
  if (onStartTimeout === "fail")
    return { id: lost.id, epoch: lost.epoch, to: "failed", body: JSON.stringify(UNSTARTED) };
  const { to } = afterLoss({
    policy,
    attempt: lost.attempt,
    losses,
    now,
    goodUntil: lost.goodUntil,
    started: lost.started,
    random: 0,
  });
  // A claim that never started has used no attempt and lost nothing.
  if (to === "waiting") return { id: lost.id, epoch: lost.epoch, to, body: null };
  return { id: lost.id, epoch: lost.epoch, to, body: JSON.stringify(LOST[to]) };
}

/** The same for a claim whose process was seen to die: no lease has to run out first. */
export function revocation(claim: Claimed, error: object, now: number): Revoked {
  const { id, epoch, attempt, goodUntil } = claim;
  const { retry: policy } = storedOptions(claim.options);
  const losses = claim.losses + 1;
  const { to } = afterLoss({ policy, attempt, losses, now, goodUntil, random: 0 });
  const body = to === "quarantined" ? { ...LOST.quarantined, last: error } : error;
  const news = isOver(to) ? newsOfStep(claim, false) : undefined;
  return { id, epoch, to, body: JSON.stringify(body), revoked: true, news };
}

const isOver = (to: Recovery["to"]): boolean => to !== "waiting" && to !== "retry";

/** The news that the end of a claim leaves for its run, if it is a step of a run. */
export function newsOfStep(
  { options, lane }: Pick<Claimed, "options"> & Partial<Pick<Claimed, "lane">>,
  hasSucceeded: boolean,
): News | undefined {
  const { step } = storedOptions(options);
  if (!step) return undefined;
  if (!hasSucceeded) return failureOf(options);
  return { run: step.run, failed: null, ...(step.each && lane !== undefined ? { lane } : {}) };
}

const UNSTARTED = {
  name: "Error",
  code: "START_TIMEOUT",
  message: "It was admitted, but no worker started it within the start timeout. Is a worker running?",
} as const;

const LOST = {
  retry: {
    code: "LEASE_LOST",
    message: "The worker that ran it did not renew its lease in time; it will be retried.",
  },
  failed: {
    code: "LEASE_LOST",
    message: "The worker that ran it did not renew its lease in time, and no attempt is left.",
  },
  quarantined: {
    code: "QUARANTINED",
    message:
      "Its process or worker died three times while running it, so it may be what kills them. Look at it before you run it again.",
  },
  expired: { code: "EXPIRED", message: "Its worker was lost, and its deadline has passed." },
} as const;
