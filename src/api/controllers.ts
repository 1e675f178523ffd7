/** The part of a worker that shares locks with other engines. */
import type { App } from "../core/app/app.ts";
import { sharedGate } from "../core/shared/lock.ts";
import { Controller } from "../engine/controllers/controller.ts";
import type { Service } from "../engine/service.ts";
import type { Env } from "../env/env.ts";
import type { Store } from "../store/store.ts";
import { openSync } from "../store/sync/open.ts";

interface Told {
  readonly failed: (error: unknown) => void;
  /** Is told the gates of runs that may start now. */
  readonly opened: { lookAt(gates: readonly string[]): void };
}

/** A process leads its engine for so many polls without a sign of life. */
const POLLS = 3;
const LEAST_LEASE_MS = 1_000;

/** None without a sync section. */
export async function controllersOf(
  store: Store,
  { sync }: App,
  env: Env,
  { failed, opened }: Told,
): Promise<Service[]> {
  if (!sync) return [];
  const { url, controller, heartbeatMs, inactiveMs, pollMs, tables } = sync;
  const database = await openSync({ url, inactiveMs, tables });
  return [
    new Controller(store, database, env, {
      pollMs,
      jitterMs: 0,
      failed,
      controller,
      heartbeatMs,
      leaseMs: Math.max(LEAST_LEASE_MS, POLLS * pollMs),
      opened: (units) => opened.lookAt(units.map(sharedGate)),
    }),
  ];
}
