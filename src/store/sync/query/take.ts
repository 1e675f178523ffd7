/**
 * Takes locks, all of a unit or none. The guard rows of these locks are inserted first and deleted at the end
 * of the same transaction, so they are seen only by a transaction that waits for them, and a crash leaves
 * none. What is counted is read in a later statement than the guard rows.
 *
 * A guard row that stays there was written by somebody else. It keeps everybody out until it is older than
 * the inactivity time; then it is replaced.
 */
import type { SharedRow } from "../../../core/shared/line.ts";
import { sharedId } from "../../../core/shared/line.ts";
import { inByteOrder } from "../../../core/text.ts";
import type { Flow } from "../../flow.ts";
import { commit, send } from "../../flow.ts";
import { text } from "../../row.ts";
import type { Sql } from "../../sql.ts";
import { by, forUpdate, now, oneOf, raw, rows, sql } from "../../sql.ts";
import type { DecideTake, LockTaking, Speaker, TakeAnswer } from "../port.ts";
import type { SyncTarget } from "./controller.ts";
import { speaking } from "./controller.ts";
import { look } from "./line.ts";
import { msOf, stampNow } from "./time.ts";

export function* take(
  place: SyncTarget,
  speaker: Speaker,
  units: readonly LockTaking[],
  decide: DecideTake,
): Flow<TakeAnswer> {
  const heard = yield* speaking(place, speaker);
  if (!heard) return { kind: "replaced" };
  if (heard.agoMs >= place.inactiveMs) return { kind: "inactive" };
  const names = [...new Set(units.flatMap(({ locks }) => locks))].sort(inByteOrder);
  const guarded = yield* guard(place, speaker, names);
  const able = units.filter(({ locks }) => locks.every((lock) => guarded.has(lock)));
  const chosen = able.length > 0 ? yield* choose(place, speaker, able, decide) : [];
  yield* commit([
    chosen.map((unit) => hold(place, speaker, unit)),
    sql`DELETE FROM ${place.tables.locks} WHERE controller = ${speaker.controller} AND name ${oneOf(names)}`,
  ]);
  return { kind: "taken", keys: chosen.map(({ key }) => key) };
}

/** The locks about which nobody else is deciding. */
function* guard(
  { tables: { locks }, inactiveMs }: SyncTarget,
  speaker: Speaker,
  names: readonly string[],
): Flow<ReadonlySet<string>> {
  const me = speaker.controller;
  const list = rows(
    "g",
    { name: "text" },
    names.map((name) => ({ name })),
  );
  const who = by({ postgres: sql`${me}::text`, mysql: sql`${me}`, sqlite: "" });
  const from = sql`(name, controller, time) SELECT g.name, ${who}, ${stampNow} FROM ${list} ORDER BY g.name`;
  const isOld = (time: string): Sql => sql`${msOf(time)} <= ${now} - ${raw(String(inactiveMs))}`;
  yield* send(
    by({
      postgres: sql`INSERT INTO ${locks} AS t ${from} ON CONFLICT (name) DO UPDATE SET controller = excluded.controller, time = excluded.time WHERE t.controller = excluded.controller OR ${isOld("t.time")}`,
      // The time is assigned last, because an assignment sees those before it.
      mysql: sql`INSERT INTO ${locks} ${from} ON DUPLICATE KEY UPDATE controller = IF(${isOld("time")}, VALUES(controller), controller), time = IF(controller = VALUES(controller), VALUES(time), time)`,
      sqlite: "",
    }),
  );
  const ours = yield* send(
    sql`SELECT name FROM ${locks} WHERE controller = ${me} AND name ${oneOf(names)}`.as((row) =>
      text(row.name),
    ),
  );
  return new Set(ours);
}

/** Those of the units that stand in line at each of their locks, and that the decision lets in. */
function* choose(
  place: SyncTarget,
  { controller }: Speaker,
  units: readonly LockTaking[],
  decide: DecideTake,
): Flow<LockTaking[]> {
  const keys = units.map(({ key }) => key);
  // A person may delete rows by plain SQL. These rows stay until the end of this transaction.
  yield* send(
    sql`SELECT name FROM ${place.tables.states} WHERE controller = ${controller} AND workflowkey ${oneOf(keys)} ORDER BY name, workflowkey, controller${forUpdate}`,
  );
  const view = yield* look(place, [...new Set(units.flatMap(({ locks }) => locks))]);
  const standing = new Map<string, string[]>();
  for (const row of view.rows) if (isPending(row, controller)) addTo(standing, row.key, row.name);
  const admitted = decide(view);
  return units.filter(
    ({ key, locks }) =>
      admitted.has(sharedId({ key, controller })) && sameNames(standing.get(key) ?? [], locks),
  );
}

const isPending = (row: SharedRow, controller: string): boolean => row.controller === controller && !row.held;

const addTo = (lists: Map<string, string[]>, key: string, name: string): void => {
  lists.set(key, [...(lists.get(key) ?? []), name]);
};

const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  [...a].sort(inByteOrder).join("\0") === [...b].sort(inByteOrder).join("\0");

const hold = ({ tables }: SyncTarget, { controller }: Speaker, { key, intent, locks }: LockTaking): Sql =>
  sql`UPDATE ${tables.states} SET held = true, intent = ${intent} WHERE controller = ${controller} AND workflowkey = ${key} AND held = false AND name ${oneOf(locks)}`;
