/** The client of the caller's own transaction. Callers may not be type-checked. */
import type pg from "pg";
import { SluiceError } from "../../core/error.ts";
import { shortly } from "../../core/text.ts";

/** Refuses anything but a client of node-postgres. A pool would put each statement on a connection of its own. */
export function callerOf(client: unknown): pg.ClientBase {
  if (typeof client !== "object" || client === null || !("query" in client) || !isFunction(client.query))
    throw refused(`must be a client of pg with an open transaction, but is ${shortly(client)}`);
  if ("totalCount" in client && "idleCount" in client)
    throw refused("is a pool. Pass the client that began the transaction: await pool.connect()");
  return client as pg.ClientBase;
}

const isFunction = (value: unknown): boolean => typeof value === "function";

/**
 * Asked after a statement, because a BEGIN that is not awaited comes before it. Older versions of pg do not
 * say.
 */
export function mustBeInTransaction(client: pg.ClientBase): void {
  const { getTransactionStatus } = client as { getTransactionStatus?: () => string | null };
  if (getTransactionStatus?.call(client) === "I")
    throw refused("is a client without an open transaction. Send BEGIN first, or leave within out");
}

const refused = (problem: string): SluiceError => new SluiceError("BAD_OPTIONS", `within ${problem}.`);
