/** Inserts new units exactly once, even if the answer to a commit is lost. */
import type { Flow } from "./flow.ts";
import { enqueued } from "./query/enqueue.ts";
import { isAmbiguous } from "./retry.ts";
import type { SqlDatabase } from "./sql-database.ts";
import type { Enqueued, NewTask } from "./store.ts";

export async function inserted(
  db: SqlDatabase,
  units: readonly NewTask[],
  verb: (isAgain: boolean) => Flow<Enqueued[]>,
): Promise<Enqueued[]> {
  for (let unsure = false; ; ) {
    try {
      return await db.transact(() => verb(unsure));
    } catch (error) {
      unsure ||= isAmbiguous(error);
      // The commit may have happened, now or in an earlier try. The ids are ours, so a read finds out.
      const found = unsure ? await db.read(() => enqueued(units)) : undefined;
      if (found) return found;
      if (!isAmbiguous(error)) throw error;
    }
  }
}
