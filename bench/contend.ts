// Several clients want one lock, each again as soon as it has released it.
import { now, percentile } from "./measure.ts";

export interface LockClient {
  /** Resolves with the release. */
  acquire(): Promise<() => Promise<unknown>>;
  close(): Promise<unknown>;
}

export interface Contended {
  readonly perSecond: number;
  /** From the call of a release to the next grant. */
  readonly medianMs: number;
  readonly p95Ms: number;
}

export async function contend(clients: readonly LockClient[], grants: number): Promise<Contended> {
  let left = grants;
  let releasedAt: number | undefined;
  const gaps: number[] = [];
  const started = now();
  const one = async (client: LockClient): Promise<void> => {
    while (left > 0) {
      const release = await client.acquire();
      if (releasedAt !== undefined) gaps.push(now() - releasedAt);
      left -= 1;
      releasedAt = now();
      await release();
    }
  };
  await Promise.all(clients.map(one));
  const seconds = (now() - started) / 1_000;
  await Promise.all(clients.map((client) => client.close()));
  return { perSecond: gaps.length / seconds, medianMs: percentile(gaps, 0.5), p95Ms: percentile(gaps, 0.95) };
}
