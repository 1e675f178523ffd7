/** Checks the limit of a shared semaphore. The column is a 32-bit integer. */
import { SluiceError } from "../error.ts";
import { shortly } from "../text.ts";

const MOST = 2_147_483_647;

export function checkLimitNumber(lock: string, limit: number | null): void {
  if (limit === null || (Number.isSafeInteger(limit) && limit >= -1 && limit <= MOST)) return;
  throw new SluiceError(
    "BAD_LIMIT",
    `${lock}: a limit is a whole number from -1 (unlimited) to ${MOST}, but is ${shortly(limit)}.`,
  );
}
