/** The sync database over PostgreSQL or MySQL. Each verb is a flow, and the database runs it. */
import { SluiceError } from "../../core/error.ts";
import { isAway, masked } from "../away.ts";
import { messageOf } from "../driver-error.ts";
import type { Database, Flow } from "../flow.ts";
import { commit } from "../flow.ts";
import type { SyncDatabase, SyncTables } from "./port.ts";
import type { SyncTarget } from "./query/controller.ts";
import * as controller from "./query/controller.ts";
import * as line from "./query/line.ts";
import { take } from "./query/take.ts";
import { createTables, tableNames } from "./tables.ts";

interface SqlSyncOptions {
  readonly where: string;
  readonly tables: SyncTables;
  /** A controller that was not heard for so long is inactive. */
  readonly inactiveMs: number;
}

export function sqlSync(db: Database, { where, tables, inactiveMs }: SqlSyncOptions): SyncDatabase {
  const place: SyncTarget = { tables: tableNames(tables), inactiveMs };
  const run = <T>(done: Promise<T>): Promise<T> =>
    done.catch((error: unknown) => {
      throw isAway(error) ? away(where, error) : error;
    });
  const write = <T>(flow: () => Flow<T>): Promise<T> => run(db.transact(flow));
  const read = <T>(flow: () => Flow<T>): Promise<T> => run(db.read(flow));
  return {
    where,
    create: () => write(() => commit(createTables(tables))),
    now: () => read(() => controller.clock()),
    join: (joining) => write(() => controller.join(place, joining)),
    heartbeat: (speaker) => write(() => controller.heartbeat(place, speaker)),
    enter: (speaker, entries) => write(() => line.enter(place, speaker, entries)),
    leave: (speaker, keys) => write(() => line.leave(place, speaker, keys)),
    take: (speaker, units, decide) => write(() => take(place, speaker, units, decide)),
    release: (of, taken) => write(() => line.release(place, of, taken)),
    look: (locks) => read(() => line.look(place, locks)),
    own: (speaker) => write(() => line.own(place, speaker)),
    controllers: () => read(() => controller.controllers(place)),
    setLimit: (name, limit) => write(() => line.setLimit(place, name, limit)),
    releaseByHand: (lock, holder) => write(() => line.releaseByHand(place, lock, holder)),
    removeController: (name) => write(() => controller.removeController(place, name)),
    close: () => db.close(),
  };
}

const away = (where: string, error: unknown): SluiceError =>
  new SluiceError(
    "SYNC_UNREACHABLE",
    `The sync database ${masked(where)} could not be reached: ${messageOf(error) || String(error)}`,
    { cause: error },
  );
