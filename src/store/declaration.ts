/** An app's declaration as content. Two declarations with the same content are one deploy. */
import { createHash } from "node:crypto";
import type { AppNames } from "../core/app/shared-names.ts";
import type { Limit } from "../core/gate/gate.ts";
import { queueKey } from "../core/gate/key.ts";
import { bornAs } from "../core/gate/kind.ts";
import { inByteOrder } from "../core/text.ts";
import type { Declaration, Replaced, Saying } from "./store.ts";

/** The app of a declaration that names none. */
export const UNNAMED_APP = "default";

/** The app of limits that were declared before apps had names. */
export const NOBODY = "";

interface Content {
  readonly hash: string;
  readonly body: string;
}

/**
 * The same content gives the same text, in whatever order it was written. A trigger's initial state is left
 * out: it means nothing later.
 */
export function contentOf({
  queues,
  gates,
  triggers = [],
  tasks = [],
  workflows = [],
}: Declaration): Content {
  const content = {
    gates: byKey(gates, ({ key }) => key).map(({ key, limit, line, leaseMs }) => ({
      key,
      limit,
      line,
      leaseMs,
    })),
    queues: byKey(queues, ({ name }) => name).map(({ name, rank }) => ({ name, rank })),
    triggers: byKey(triggers, ({ name }) => name).map(({ name, workflow, spec }) => ({
      name,
      workflow,
      spec,
    })),
  };
  const hash = createHash("sha256").update(JSON.stringify(content)).digest("base64url").slice(0, 22);
  return {
    hash,
    body: JSON.stringify({ ...content, tasks: [...tasks].sort(), workflows: [...workflows].sort() }),
  };
}

/**
 * The declaration for each gate, by key. A queue always has an entry for its gate, with or without a limit.
 */
export function sayingsOf({ queues, gates }: Declaration): ReadonlyMap<string, Saying> {
  const sayings = new Map<string, Saying>();
  for (const { name, rank } of queues)
    sayings.set(queueKey(name), { limit: null, line: bornAs(queueKey(name)).line, leaseMs: null, rank });
  for (const { key, limit, line, leaseMs = null } of gates)
    sayings.set(key, { limit, line, leaseMs, rank: sayings.get(key)?.rank ?? null });
  return new Map(byKey([...sayings], ([key]) => key));
}

interface Deploy {
  readonly app: string;
  readonly n: number;
  readonly at: number;
  readonly body: string;
}

/**
 * Gates that an earlier declaration of an app names and no declaration in force does, with the deploy that
 * left them out.
 */
export function replacedIn(deploys: readonly Deploy[]): Replaced[] {
  const inForce = new Set<string>();
  const named = deploys.filter(({ app }) => app !== NOBODY);
  const found = new Map<string, Replaced>();
  for (const app of new Set(named.map((deploy) => deploy.app))) {
    const inOrder = named.filter((deploy) => deploy.app === app).sort((a, b) => a.n - b.n);
    for (const gate of namesIn(inOrder.at(-1)?.body).keys()) inForce.add(gate);
    for (const [index, deploy] of inOrder.entries()) {
      const next = inOrder[index + 1];
      const known = next && namesIn(next.body);
      for (const [gate, limit] of namesIn(deploy.body))
        if (next && !known?.has(gate)) found.set(gate, { gate, app, limit, at: next.at });
    }
  }
  return byKey(
    [...found.values()].filter(({ gate }) => !inForce.has(gate)),
    ({ gate }) => gate,
  );
}

/** The tasks and workflows of each app, from its declaration in force. Older declarations list no workflows. */
export function appsInForce(deploys: readonly Omit<Deploy, "at">[]): AppNames[] {
  const inForce = new Map<string, Omit<Deploy, "at">>();
  for (const deploy of deploys)
    if (deploy.app !== NOBODY && deploy.n > (inForce.get(deploy.app)?.n ?? 0))
      inForce.set(deploy.app, deploy);
  const apps = [...inForce.values()].sort((a, b) => inByteOrder(a.app, b.app));
  return apps.map(({ app, body }) => {
    const { tasks = [], workflows = [] }: Partial<Declaration> = JSON.parse(body);
    return { app, tasks, workflows };
  });
}

function namesIn(body = "{}"): Map<string, Limit> {
  const { gates = [], queues = [] }: Partial<Declaration> = JSON.parse(body);
  return new Map<string, Limit>([
    ...queues.map(({ name }) => [queueKey(name), null] as const),
    ...gates.map(({ key, limit }) => [key, limit] as const),
  ]);
}

function byKey<T>(list: readonly T[], key: (item: T) => string): T[] {
  return [...list].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
