/**
 * Which errors mean "you lost a race, do it all again", which mean "nobody knows whether it was committed", and
 * how long to wait in between. Judged by code, never by message.
 */
import { SluiceError } from "../core/error.ts";
import { codeOf } from "./driver-error.ts";

const AGAIN = new Set([
  // PostgreSQL: serialization failure, deadlock, lock not available, idle in transaction too long
  "40001",
  "40P01",
  "55P03",
  // a row that somebody else has just inserted
  "23505",
  "ER_DUP_ENTRY",
  // MySQL and MariaDB: deadlock, lock wait timeout (which undoes only the statement), snapshot changed
  "ER_LOCK_DEADLOCK",
  "ER_LOCK_WAIT_TIMEOUT",
  "ER_CHECKREAD",
]);

const CONNECTION = new Set([
  "25P03",
  "57P01",
  "57P02",
  "57P03",
  // PostgreSQL: idle for too long
  "57P05",
  // PostgreSQL: too many connections, for now
  "53300",
  "08000",
  "08003",
  "08006",
  "ECONNRESET",
  "ECONNREFUSED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOENT",
  "PROTOCOL_CONNECTION_LOST",
  "ER_SERVER_SHUTDOWN",
  "4031",
  "ER_CLIENT_INTERACTION_TIMEOUT",
  "CONNECTION_LOST",
]);

export const isLostRace = (error: unknown): boolean => AGAIN.has(codeOf(error));

export const isConnectionLoss = (error: unknown): boolean => CONNECTION.has(codeOf(error));

/** Thrown when a connection died while its commit was on the way: the work may be done or not. */
export class AmbiguousCommit extends SluiceError {
  constructor(cause: unknown) {
    super(
      "AMBIGUOUS_COMMIT",
      "The connection to the store was lost during a commit; it may or may not have happened. It is safe to repeat an enqueue or submit with an idempotency key, a cancel, or a limit. Before you repeat anything else, check whether it is already there.",
      { cause },
    );
  }
}

export const isAmbiguous = (error: unknown): boolean => error instanceof AmbiguousCommit;

const ATTEMPTS = 12;
/** A row that somebody else has just inserted is seen at the next try; one that is always there is no race. */
const DUPLICATE_ATTEMPTS = 3;
const DUPLICATE = new Set(["23505", "ER_DUP_ENTRY"]);

/** Whether the whole transaction is worth another try. */
export function isWorthAnother(error: unknown, attempt: number): boolean {
  if (DUPLICATE.has(codeOf(error))) return attempt < DUPLICATE_ATTEMPTS;
  return (isLostRace(error) || isConnectionLoss(error)) && attempt < ATTEMPTS;
}

/** What may be done twice: a lost answer is no reason to give up, but one that is lost again and again is. */
export async function repeated<T>(once: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once();
    } catch (error) {
      if (!isAmbiguous(error) || attempt >= ATTEMPTS) throw error;
    }
  }
}

/** Full jitter, growing from a few milliseconds to a quarter of a second. */
export function pauseMs(attempt: number, random: number): number {
  return Math.ceil(random * Math.min(250, 4 * 2 ** attempt));
}
