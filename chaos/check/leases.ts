/**
 * A lease is lost only for a cause. A claim that another pass took away must have belonged to a session that
 * had ended by the store's clock. And that session must have ended because we killed, froze or cut off its
 * process for a good part of a lease. One lost answer, a short cut or a wrong clock elsewhere is no cause.
 */
import type { Finding, Impairment, Visit } from "../history.ts";
import { childDied } from "./child-death.ts";
import { impairedMs, noiseIn } from "./impaired.ts";
import type { ClaimLife, Lives } from "./lives.ts";
import { wasLost } from "./lives.ts";

const PART = 0.4;
const SLACK_MS = 150;
const DEATH_SEEN_MS = 2_000;

export interface LeasesOf {
  readonly lives: Lives;
  readonly visits: readonly Visit[];
  readonly impairments: readonly Impairment[];
  readonly leaseMs: number;
}

export function checkLeases(of: LeasesOf): Finding {
  const lost = of.lives.claims.filter(wasLost);
  const vanished = new Map(of.visits.filter(({ left }) => !left).map(({ epoch, to }) => [epoch, to]));
  const { slowest, late } = afterDeath(lost, vanished, of);
  return {
    check: "leases lost for a cause",
    figures: `${lost.length} claims taken from lost holders; from a dead child after ${Math.round(slowest)}ms at most`,
    violations: [...lost.flatMap((life) => complaintOf(life, of, vanished)), ...late],
  };
}

/**
 * A worker sees its child die and gives up the child's claims within two seconds, provided that it is alive
 * itself.
 */
function afterDeath(
  lost: readonly ClaimLife[],
  vanished: ReadonlyMap<number, number>,
  { lives, impairments }: LeasesOf,
): { slowest: number; late: string[] } {
  const late: string[] = [];
  const disturbances = impairments.filter(({ why }) => why !== "noise");
  let slowest = 0;
  for (const { task, epoch, session, endStamp = 0, expires, sessionGone } of lost) {
    const died = vanished.get(epoch);
    const pid = lives.sessions.get(session)?.pid ?? -1;
    if (died === undefined || sessionGone || expires <= endStamp) continue;
    if (impairedMs(disturbances, [pid], { from: died - SLACK_MS, to: endStamp }) > 0) continue;
    const took = endStamp - died - noiseIn(impairments, { from: died, to: endStamp });
    slowest = Math.max(slowest, took);
    if (took > DEATH_SEEN_MS)
      late.push(`${task} (epoch ${epoch}) was given up ${Math.round(took)}ms after its process had died`);
  }
  return { slowest, late };
}

function complaintOf(life: ClaimLife, of: LeasesOf, vanished: ReadonlyMap<number, number>): string[] {
  const { task, epoch, session, until, endStamp = 0, expires, sessionGone } = life;
  const pid = of.lives.sessions.get(session)?.pid ?? -1;
  const claimLeaseOver = until !== null && until <= endStamp;
  if (!sessionGone && expires > endStamp && !claimLeaseOver) {
    // A worker may give up a claim whose child process died.
    if (vanished.has(epoch) || childDied(of, pid, endStamp)) return [];
    return [
      `${task} (epoch ${epoch}) was taken from session ${session}, which was alive for another ${expires - endStamp}ms`,
    ];
  }
  const end = Math.min(expires, endStamp);
  const over = of.impairments.some(
    ({ pid: whose, why, from }) =>
      whose === pid && (why === "killed" || why === "told to stop") && from <= end + SLACK_MS,
  );
  const impaired = impairedMs(of.impairments, [pid], { from: end - of.leaseMs, to: end });
  if (over || impaired >= of.leaseMs * PART) return [];
  return [
    `${task} (epoch ${epoch}): the lease of pid ${pid} ran out at ${end}, and nobody had kept it from renewing`,
  ];
}
