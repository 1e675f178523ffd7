/** An app's limits as gates. */
import type { App } from "../core/app/app.ts";
import { tagLimitKey } from "../core/app/tags.ts";
import {
  ANY,
  clusterKey,
  engineKey,
  namespaceKey,
  poolKey,
  queueKey,
  runsKey,
  semaphoreKey,
} from "../core/gate/key.ts";
import { bornAs } from "../core/gate/kind.ts";
import type { Declaration, DeclaredGate } from "../store/store.ts";

/** Contains only the limits that the app declares. A gate without a declared limit is left to other apps. */
export function declarationOf(app: App, name: string): Declaration {
  const gate = (key: string, limit: number | null, leaseMs?: number): DeclaredGate[] =>
    limit === null ? [] : [{ key, limit, line: bornAs(key).line, leaseMs }];
  return {
    app: name,
    tasks: [...app.tasks.keys()],
    workflows: [...app.workflows.keys()],
    queues: app.queues.map(({ name, rank, ranked }) => ({ name, rank: ranked ? rank : null })),
    gates: [
      ...gate(clusterKey, app.clusterCap),
      ...app.queues.flatMap(({ name, maxConcurrency }) => gate(queueKey(name), maxConcurrency)),
      ...app.pools.flatMap(({ name, limit, leaseMs, perValue }) =>
        gate(poolKey(perValue ? `${name}=${ANY}` : name), limit, leaseMs),
      ),
      ...gate(engineKey, app.parallelism.engine),
      ...gate(namespaceKey(ANY), app.parallelism.eachNamespace),
      ...app.parallelism.namespaces.flatMap(({ name, limit }) => gate(namespaceKey(name), limit)),
      ...app.semaphores.flatMap(({ name, namespace, limit }) => gate(semaphoreKey(name, namespace), limit)),
      ...gate(runsKey, app.runs.declared ? app.runs.max : null),
      ...app.runs.tags.flatMap((limit) => gate(tagLimitKey(limit), limit.limit)),
    ],
    triggers: [...app.schedules, ...app.sensors, ...app.automations].map(
      ({ name, kind, workflow, spec, paused }) => ({
        name,
        kind,
        workflow,
        spec: JSON.stringify(spec),
        paused,
      }),
    ),
  };
}

/** The limits that an app would declare, by gate. */
export function limitsOf(app: App): ReadonlyMap<string, number> {
  return new Map(declarationOf(app, "").gates.map(({ key, limit }) => [key, limit]));
}
