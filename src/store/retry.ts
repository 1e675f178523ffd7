/**
 * Says which errors mean "you lost a race, do it all again", which mean "the commit may or may not have
 * happened", and how long to wait in between. The error code decides, never the message.
 */
import { SluiceError } from "../core/error.ts";
import { codeOf } from "./driver-error.ts";

const AGAIN = new Set([
  // PostgreSQL: serialization failure, deadlock, lock not available
  "40001",
  "40P01",
  "55P03",
  // another transaction has just inserted the same row
  "23505",
  "ER_DUP_ENTRY",
  // MySQL and MariaDB: deadlock, lock wait timeout (rolls back only the statement), snapshot changed
  "ER_LOCK_DEADLOCK",
  "ER_LOCK_WAIT_TIMEOUT",
  "ER_CHECKREAD",
]);

const CONNECTION = new Set([
  "25P03",
  "57P01",
  "57P02",
  "57P03",
  // PostgreSQL: idle session timeout
  "57P05",
  // PostgreSQL: too many connections at the moment
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

/** Thrown when a connection died during its commit. The work may or may not be done. */
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
/**
 * A row that another transaction has just inserted is visible at the next try. A permanent duplicate is not a
 * race.
 */
const DUPLICATE_ATTEMPTS = 3;
const DUPLICATE = new Set(["23505", "ER_DUP_ENTRY"]);

/** Whether to try the whole transaction again. */
export function isWorthAnother(error: unknown, attempt: number): boolean {
  if (DUPLICATE.has(codeOf(error))) return attempt < DUPLICATE_ATTEMPTS;
  return (isLostRace(error) || isConnectionLoss(error)) && attempt < ATTEMPTS;
}

/** For work that may be done twice. One lost answer is no reason to give up, but many in a row are. */
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
