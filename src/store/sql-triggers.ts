/** Schedules, sensors and automations over any SQL database. */
import type { Database } from "./flow.ts";
import * as trigger from "./query/triggers.ts";
import { SqlDeclarations } from "./sql-declarations.ts";
import type * as S from "./store.ts";

export class SqlTriggers extends SqlDeclarations implements S.TriggerPort {
  readonly #db: Database;

  /** `plain` is the same database without the door. */
  constructor(plain: Database, db: Database) {
    super(plain, db);
    this.#db = db;
  }

  triggers(): ReturnType<S.TriggerPort["triggers"]> {
    return this.#db.read(() => trigger.triggers());
  }

  pauseTrigger(name: string, paused: boolean, by: string): Promise<{ was: boolean } | undefined> {
    return this.#db.transact(() => trigger.pauseTrigger(name, paused, by));
  }

  setTrigger(given: S.NewTrigger, by: string): Promise<{ created: boolean }> {
    return this.#db.transact(() => trigger.setTrigger(given, by));
  }

  removeTrigger(name: string, by: string): Promise<boolean> {
    return this.#db.transact(() => trigger.removeTrigger(name, by));
  }

  takeTrigger(name: string, stamp: number, busyMs: number): Promise<number | undefined> {
    return this.#db.transact(() => trigger.takeTrigger(name, stamp, busyMs));
  }

  /** The caller handles a lost answer: the stamp shows at its next look whether the decision was stored. */
  fire(firing: S.Firing): Promise<S.Enqueued[] | undefined> {
    return this.#db.transact(() => trigger.fire(firing));
  }

  lastSuccesses(workflows: readonly string[]): ReturnType<S.TriggerPort["lastSuccesses"]> {
    return this.#db.read(() => trigger.lastSuccesses(workflows));
  }

  activeRuns(of: S.RunsOf): ReturnType<S.TriggerPort["activeRuns"]> {
    return this.#db.read(() => trigger.activeRuns(of));
  }
}
