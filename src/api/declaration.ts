/** What an app's limits are as gates. */
import type { App } from "../core/app/app.ts";
import { tagLimitKey } from "../core/app/tags.ts";
import { UNLIMITED } from "../core/gate/gate.ts";
import { ANY, clusterKey, poolKey, queueKey, runsKey } from "../core/gate/key.ts";
import { bornAs } from "../core/gate/kind.ts";
import type { Declaration, DeclaredGate } from "../store/store.ts";

export function declarationOf(app: App): Declaration {
  const gate = (key: string, limit: number, leaseMs?: number): DeclaredGate => ({
    key,
    limit,
    line: bornAs(key).line,
    leaseMs,
  });
  return {
    queues: app.queues.map(({ name, rank }) => ({ name, rank })),
    gates: [
      gate(clusterKey, app.clusterCap ?? UNLIMITED),
      ...app.queues.map(({ name, maxConcurrency }) => gate(queueKey(name), maxConcurrency ?? UNLIMITED)),
      ...app.pools.map(({ name, limit, leaseMs, perValue }) =>
        gate(poolKey(perValue ? `${name}=${ANY}` : name), limit, leaseMs),
      ),
      ...(app.runs.declared ? [gate(runsKey, app.runs.max)] : []),
      ...app.runs.tags.map((limit) => gate(tagLimitKey(limit), limit.limit)),
    ],
  };
}
