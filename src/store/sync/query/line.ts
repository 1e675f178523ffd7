/** The rows of lines and holders: read, entered, left and released. */
import type { SharedRow, SharedView } from "../../../core/shared/line.ts";
import { limitNameOf } from "../../../core/shared/lock.ts";
import { inByteOrder } from "../../../core/text.ts";
import type { Flow } from "../../flow.ts";
import { commit, send } from "../../flow.ts";
import { inPortions } from "../../portions.ts";
import type { Row } from "../../row.ts";
import { flag, int, text } from "../../row.ts";
import type { Sql } from "../../sql.ts";
import { by, forUpdate, now, oneOf, raw, rows, sql } from "../../sql.ts";
import type { LockTaking, SharedEntry, Speaker } from "../port.ts";
import type { SyncTarget } from "./controller.ts";
import { clock, speaking } from "./controller.ts";
import { msOf, stampOf } from "./time.ts";

/** The order in which rows are locked, the same everywhere. */
const BY_KEY = raw("ORDER BY name, workflowkey, controller");

const stateRow = (row: Row): SharedRow => ({
  name: text(row.name),
  key: text(row.workflowkey),
  controller: text(row.controller),
  held: flag(row.held),
  priority: int(row.priority),
  at: int(row.at),
  slots: int(row.slots),
  intent: int(row.intent),
  live: flag(row.live),
});

const selectRows = ({ tables, inactiveMs }: SyncTarget, where: Sql): Sql<SharedRow> =>
  sql`SELECT s.name, s.workflowkey, s.controller, CASE WHEN s.held THEN 1 ELSE 0 END AS held, s.priority, ${msOf("s.time")} AS at, s.slots, s.intent,
      CASE WHEN ${msOf("c.time")} > ${now} - ${raw(String(inactiveMs))} THEN 1 ELSE 0 END AS live
    FROM ${tables.states} s LEFT JOIN ${tables.controllers} c ON c.controller = s.controller WHERE ${where}
    ORDER BY s.name, s.workflowkey, s.controller`.as(stateRow);

/** A unit ahead may wait for a lock that is unset. Then it holds nobody back, so its other locks are read too. */
const isNear = ({ tables }: SyncTarget, locks: readonly string[]): Sql =>
  sql`(s.name ${oneOf(locks)} OR (s.held = false AND EXISTS (SELECT 1 FROM ${tables.states} o
    WHERE o.workflowkey = s.workflowkey AND o.controller = s.controller AND o.held = false AND o.name ${oneOf(locks)})))`;

/** Without `locks`: everything. */
export function* look(place: SyncTarget, locks?: readonly string[]): Flow<SharedView> {
  const found = yield* send(selectRows(place, locks ? isNear(place, locks) : raw("1 = 1")));
  const limits = yield* send(selectLimits(place, locks && [...locks, ...found.map(({ name }) => name)]));
  return { now: yield* clock(), rows: found, limits: new Map(limits) };
}

function selectLimits(
  { tables }: SyncTarget,
  locks: readonly string[] | undefined,
): Sql<readonly [string, number]> {
  const names = locks && [...new Set(locks.flatMap((lock) => limitNameOf(lock) ?? []))];
  const which = names ? sql`name ${oneOf(names)}` : raw("1 = 1");
  return sql`SELECT name, sizelimit FROM ${tables.limits} WHERE ${which}`.as(
    (row) => [text(row.name), int(row.sizelimit)] as const,
  );
}

export function* own(place: SyncTarget, speaker: Speaker): Flow<SharedRow[] | undefined> {
  if (!(yield* speaking(place, speaker))) return undefined;
  return yield* send(selectRows(place, sql`s.controller = ${speaker.controller}`));
}

const ENTRY = { name: "text", unit: "text", precedence: "int", at: "int", wanted: "int" } as const;

/** A row that is there keeps its time, and a held row is not touched. */
export function* enter(place: SyncTarget, speaker: Speaker, entries: readonly SharedEntry[]): Flow<boolean> {
  if (!(yield* speaking(place, speaker))) return false;
  const { controller } = speaker;
  const { states } = place.tables;
  const list = entries
    .flatMap(({ key, priority, at, locks }) =>
      locks.map(({ name, slots }) => ({ name, unit: key, precedence: priority, at, wanted: slots })),
    )
    .sort((a, b) => inByteOrder(a.name, b.name) || inByteOrder(a.unit, b.unit));
  yield* commit(
    inPortions(list, (portion) => {
      const who = by({ postgres: sql`${controller}::text`, mysql: sql`${controller}`, sqlite: "" });
      const columns = raw("(name, workflowkey, controller, held, priority, time, slots)");
      const from = sql`SELECT e.name, e.unit, ${who}, false, e.precedence, ${stampOf(raw("e.at"))}, e.wanted FROM ${rows("e", ENTRY, portion)}`;
      return by({
        postgres: sql`INSERT INTO ${states} AS t ${columns} ${from} ON CONFLICT (name, workflowkey, controller) DO UPDATE SET priority = excluded.priority WHERE NOT t.held AND t.priority <> excluded.priority`,
        mysql: sql`INSERT INTO ${states} ${columns} ${from} ON DUPLICATE KEY UPDATE priority = IF(held, priority, VALUES(priority))`,
        sqlite: "",
      });
    }),
  );
  return true;
}

export function* leave(place: SyncTarget, speaker: Speaker, keys: readonly string[]): Flow<boolean> {
  if (!(yield* speaking(place, speaker))) return false;
  const { states } = place.tables;
  const which = sql`controller = ${speaker.controller} AND held = false AND workflowkey ${oneOf(keys)}`;
  yield* send(sql`SELECT name FROM ${states} WHERE ${which} ${BY_KEY}${forUpdate}`);
  yield* commit(sql`DELETE FROM ${states} WHERE ${which}`);
  return true;
}

/** Intents are never used twice, so no later taking is freed. */
export function* release(
  { tables }: SyncTarget,
  controller: string,
  taken: readonly Pick<LockTaking, "key" | "intent">[],
): Flow<void> {
  yield* commit(
    sql`DELETE FROM ${tables.states} WHERE controller = ${controller} AND held = true AND workflowkey ${oneOf(taken.map(({ key }) => key))} AND intent ${oneOf(taken.map(({ intent }) => intent))}`,
  );
}

export function* releaseByHand(
  { tables }: SyncTarget,
  lock: string,
  holder?: { readonly key: string; readonly controller: string },
): Flow<number> {
  const of = holder ? sql`AND workflowkey = ${holder.key} AND controller = ${holder.controller}` : raw("");
  const which = sql`name = ${lock} AND held = true ${of}`;
  const found = yield* send(
    sql`SELECT name FROM ${tables.states} WHERE ${which} ${BY_KEY}${forUpdate}`.as((row) => text(row.name)),
  );
  yield* commit(sql`DELETE FROM ${tables.states} WHERE ${which}`);
  return found.length;
}

export function* setLimit({ tables }: SyncTarget, name: string, limit: number | null): Flow<void> {
  if (limit === null) {
    yield* commit(sql`DELETE FROM ${tables.limits} WHERE name = ${name}`);
    return;
  }
  const into = sql`INSERT INTO ${tables.limits} (name, sizelimit) VALUES (${name}, ${limit})`;
  yield* commit(
    by({
      postgres: sql`${into} ON CONFLICT (name) DO UPDATE SET sizelimit = excluded.sizelimit`,
      mysql: sql`${into} ON DUPLICATE KEY UPDATE sizelimit = VALUES(sizelimit)`,
      sqlite: "",
    }),
  );
}
