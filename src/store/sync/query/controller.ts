/**
 * Controllers: who speaks for one, and whether it is alive. The row of a controller is locked by everything
 * that its speaker writes, so a process that was replaced writes nothing more.
 */
import type { Flow } from "../../flow.ts";
import { commit, send } from "../../flow.ts";
import type { Row } from "../../row.ts";
import { flag, int, only, text } from "../../row.ts";
import type { Sql } from "../../sql.ts";
import { by, forUpdate, now, raw, sql } from "../../sql.ts";
import type { ControllerRow, Joined, Speaker, SyncDatabase } from "../port.ts";
import type { TableNames } from "../tables.ts";
import { msOf, stampNow } from "./time.ts";

export interface SyncTarget {
  readonly tables: TableNames;
  readonly inactiveMs: number;
}

interface Heard {
  readonly engine: string;
  readonly instance: string;
  readonly agoMs: number;
}

const heardRow = (row: Row): Heard => ({
  engine: text(row.engine),
  instance: text(row.instance),
  agoMs: int(row.ago),
});

/** Locks the row of a controller. */
const lockController = ({ tables }: SyncTarget, controller: string): Sql<Heard> =>
  sql`SELECT c.engine, c.instance, ${now} - ${msOf("c.time")} AS ago FROM ${tables.controllers} c WHERE c.controller = ${controller}${forUpdate}`.as(
    heardRow,
  );

/** Undefined if another process speaks for the controller now. */
export function* speaking(place: SyncTarget, { controller, instance }: Speaker): Flow<Heard | undefined> {
  const [heard] = yield* send(lockController(place, controller));
  return heard?.instance === instance ? heard : undefined;
}

export function* clock(): Flow<number> {
  return only(yield* send(sql`SELECT ${now} AS now`.as((row) => int(row.now))));
}

/** A live controller of another engine keeps its name. */
export function* join(place: SyncTarget, joining: Parameters<SyncDatabase["join"]>[0]): Flow<Joined> {
  const { controllers } = place.tables;
  const { controller, engine, instance } = joining;
  // The row must be there before it can be locked. Its time is long ago, so nobody counts it yet.
  yield* send(
    by({
      postgres: sql`INSERT INTO ${controllers} (controller, time) VALUES (${controller}, to_timestamp(86400)) ON CONFLICT (controller) DO NOTHING`,
      mysql: sql`INSERT INTO ${controllers} (controller, time) VALUES (${controller}, FROM_UNIXTIME(86400)) ON DUPLICATE KEY UPDATE controller = VALUES(controller)`,
      sqlite: "",
    }),
  );
  const heard = only(yield* send(lockController(place, controller)));
  if (heard.engine !== engine && heard.agoMs < place.inactiveMs) {
    yield* commit([]);
    return { joined: false, heardMsAgo: heard.agoMs };
  }
  const at = yield* clock();
  yield* commit(
    sql`UPDATE ${controllers} SET engine = ${engine}, instance = ${instance}, time = ${stampNow} WHERE controller = ${controller}`,
  );
  return { joined: true, now: at };
}

export function* heartbeat(place: SyncTarget, speaker: Speaker): Flow<boolean> {
  if (!(yield* speaking(place, speaker))) return false;
  yield* commit(
    sql`UPDATE ${place.tables.controllers} SET time = ${stampNow} WHERE controller = ${speaker.controller}`,
  );
  return true;
}

/** A controller that is known only by its rows was never heard. */
export function* controllers({ tables, inactiveMs }: SyncTarget): Flow<ControllerRow[]> {
  const count = (held: boolean): Sql =>
    sql`(SELECT count(*) FROM ${tables.states} s WHERE s.controller = n.controller AND s.held = ${raw(String(held))})`;
  return yield* send(
    sql`SELECT n.controller, COALESCE(c.engine, '') AS engine, COALESCE(${msOf("c.time")}, 0) AS heard_at,
        CASE WHEN ${msOf("c.time")} > ${now} - ${raw(String(inactiveMs))} THEN 1 ELSE 0 END AS live, ${count(true)} AS held, ${count(false)} AS pending
      FROM (SELECT controller FROM ${tables.controllers} UNION SELECT controller FROM ${tables.states}) AS n
      LEFT JOIN ${tables.controllers} c ON c.controller = n.controller ORDER BY n.controller`.as((row) => ({
      name: text(row.controller),
      engine: text(row.engine),
      heardAt: int(row.heard_at),
      live: flag(row.live),
      held: int(row.held),
      pending: int(row.pending),
    })),
  );
}

export function* removeController(
  place: SyncTarget,
  controller: string,
): Flow<{ readonly held: number; readonly pending: number } | undefined> {
  const { tables, inactiveMs } = place;
  const [heard] = yield* send(lockController(place, controller));
  if (heard && heard.agoMs < inactiveMs) return undefined;
  const rows = yield* send(
    sql`SELECT CASE WHEN held THEN 1 ELSE 0 END AS held FROM ${tables.states} WHERE controller = ${controller}${forUpdate}`.as(
      (row) => flag(row.held),
    ),
  );
  yield* commit([
    sql`DELETE FROM ${tables.controllers} WHERE controller = ${controller}`,
    sql`DELETE FROM ${tables.states} WHERE controller = ${controller}`,
  ]);
  const held = rows.filter(Boolean).length;
  return { held, pending: rows.length - held };
}
