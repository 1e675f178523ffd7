/** Steps that wait, and signals, over any SQL database. */
import type { Database } from "./flow.ts";
import { signal } from "./query/signal.ts";
import { answerWait, lapseWait } from "./query/wait-answer.ts";
import { repeated } from "./retry.ts";
import { SqlTriggers } from "./sql-triggers.ts";
import type * as S from "./store.ts";

export class SqlWaits extends SqlTriggers implements S.WaitPort {
  readonly #db: Database;

  /** `plain` is the same database without the door. */
  constructor(plain: Database, db: Database) {
    super(plain, db);
    this.#db = db;
  }

  /** The ID is ours, so after a lost answer the signal is there or it is sent again. */
  signal(sent: S.NewSignal): Promise<S.Signalled> {
    let isAgain = false;
    return repeated(async () => {
      try {
        return await this.#db.transact(() => signal(sent, isAgain));
      } finally {
        isAgain = true;
      }
    });
  }

  answerWait(wait: S.StepKey, answer: S.WaitAnswer): Promise<boolean | undefined> {
    return this.#db.transact(() => answerWait(wait, answer));
  }

  lapseWait(wait: S.StepKey): Promise<boolean> {
    return this.#db.transact(() => lapseWait(wait));
  }
}
