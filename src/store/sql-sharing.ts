/** Units that need locks shared with other engines, over any SQL database. */
import type { Database } from "./flow.ts";
import type { Intent, Leading, SharingPort, SharingUnit } from "./ports/sharing.ts";
import * as query from "./query/sharing.ts";
import { repeated } from "./retry.ts";
import { SqlWaits } from "./sql-waits.ts";

export class SqlSharing extends SqlWaits implements SharingPort {
  readonly #db: Database;

  /** `plain` is the same database without the door. */
  constructor(plain: Database, db: Database) {
    super(plain, db);
    // Nothing here is told to the feed.
    this.#db = plain;
  }

  lead(session: string, leaseMs: number, engine: string): Promise<Leading> {
    return repeated(() => this.#db.transact(() => query.lead(session, leaseMs, engine)));
  }

  sharing(): Promise<SharingUnit[]> {
    return this.#db.read(() => query.sharing());
  }

  intend(session: string, units: readonly string[]): Promise<Intent[]> {
    return this.#db.transact(() => query.intend(session, units));
  }

  openShared(session: string, intents: readonly Intent[]): Promise<string[]> {
    return repeated(() => this.#db.transact(() => query.openShared(session, intents)));
  }

  closeShared(session: string, intents: readonly Intent[]): Promise<string[]> {
    return repeated(() => this.#db.transact(() => query.closeShared(session, intents)));
  }

  forgetShared(session: string, intents: readonly Intent[], gone: readonly string[]): Promise<void> {
    return repeated(() => this.#db.transact(() => query.forgetShared(session, intents, gone)));
  }
}
