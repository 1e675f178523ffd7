/**
 * Tells when a frozen worker is stale in the most visible way: another worker runs its task. A pause lasts
 * until then, within a bound, so that the store really refuses what the worker does when it wakes up.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Scene } from "./scene.ts";

export type IsStale = () => Promise<boolean>;

const MOST_LONGER_MS = 5_000;

export async function untilStale(isStale: IsStale): Promise<void> {
  for (const until = Date.now() + MOST_LONGER_MS; Date.now() < until; await sleep(50))
    if (await isStale()) return;
}

/**
 * A holder with a newer token is or was inside while the worker's own code still is, so its effect will be
 * refused.
 */
export function effectIsStale(pid: number, { witness }: Scene): IsStale {
  return async () => {
    const own = (await witness.inside()).filter(({ deaf, pids }) => deaf && pids.includes(pid));
    return own.length === 0 || own.some(({ overtaken }) => overtaken);
  };
}

/** Another worker runs a task whose end this worker was about to report, so its report will be refused. */
export async function reportIsStale(pid: number, { place, witness }: Scene): Promise<IsStale> {
  const held = await place.sql(
    `SELECT r.id, r.epoch FROM sluice_running r JOIN sluice_session s ON s.id = r.session WHERE s.name LIKE '%:${pid}'`,
  );
  const inside = new Set((await witness.inside()).map(({ id }) => id));
  const ended = held.filter(({ id }) => !inside.has(String(id)));
  if (ended.length === 0) return async () => true;
  const again = ended.map(({ id, epoch }) => `(id = '${id}' AND epoch > ${epoch})`).join(" OR ");
  return async () => (await place.sql(`SELECT id FROM sluice_running WHERE ${again}`)).length > 0;
}
