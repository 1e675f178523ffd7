/**
 * Deletes a gate that no app declares and no unit asks for or holds. The locks keep out declarations and
 * changes of its limit. A unit that is just being taken in shows in its arrival until that pass commits, and
 * in its lane from then on, so arrivals are read first. A later unit finds no gate and creates it again.
 */
import { kindOf } from "../../core/gate/key.ts";
import { inByteOrder } from "../../core/text.ts";
import { NOBODY } from "../declaration.ts";
import type { Flow } from "../flow.ts";
import { commit, flight, send } from "../flow.ts";
import { asksOf } from "../lane.ts";
import type { Row } from "../row.ts";
import { idOf, text } from "../row.ts";
import { forUpdate, raw, sql } from "../sql.ts";
import type { GateKept } from "../store.ts";
import { lockDeclarations } from "./declare.ts";

const asksIn = ({ asks }: Row): string => text(asks);

export const selectAsksOfArrivals = sql`SELECT DISTINCT asks FROM sluice_arrival`.as(asksIn);
/** The asks of lanes that have units in any place. It walks over the lanes, not over their units. */
const selectAsksInUse = raw(
  `SELECT DISTINCT l.asks FROM sluice_lane l WHERE ${["waiting", "running", "stopping"]
    .map((table) => `EXISTS (SELECT 1 FROM sluice_${table} u WHERE u.lane = l.id)`)
    .join(" OR ")}`,
).as(asksIn);
/** A delayed unit may belong to a lane that no pass has seen yet. */
export const selectAsksOfLater = raw(
  "SELECT DISTINCT t.asks FROM sluice_later u JOIN sluice_task t ON t.id = u.id",
).as(asksIn);

export function* asked(): Flow<string[]> {
  const found = yield* send([selectAsksOfArrivals, selectAsksInUse, selectAsksOfLater]);
  const gates = found.flatMap((asks) => asksOf(asks).map(({ gate }) => gate));
  return [...new Set(gates)].sort(inByteOrder);
}

export function* deleteGate(key: string): Flow<GateKept | null | undefined> {
  yield* send(lockDeclarations);
  const [gate] = yield* send(
    sql`SELECT name FROM sluice_gate WHERE name = ${key}${forUpdate}`.as(({ name }) => text(name)),
  );
  if (gate === undefined) return undefined;
  const { arrivals, parked, lanes, later, apps } = yield* flight({
    arrivals: selectAsksOfArrivals,
    parked: sql`SELECT id FROM sluice_lane WHERE parked = ${key} LIMIT 1`.as(idOf),
    lanes: selectAsksInUse,
    later: selectAsksOfLater,
    apps: sql`SELECT app FROM sluice_declared WHERE gate = ${key} AND app <> ${NOBODY} ORDER BY app`.as(
      ({ app }) => text(app),
    ),
  });
  const isAsked =
    parked.length > 0 ||
    [...arrivals, ...lanes, ...later].some((asks) => asksOf(asks).some((ask) => ask.gate === key));
  if (isAsked || apps.length > 0) return { apps, isAsked };
  yield* commit([
    sql`DELETE FROM sluice_declared WHERE gate = ${key}`,
    sql`DELETE FROM sluice_event WHERE subject = ${key}`,
    sql`DELETE FROM sluice_gate WHERE name = ${key}`,
    kindOf(key) === "queue" && sql`DELETE FROM sluice_queue WHERE name = ${key.slice("queue:".length)}`,
  ]);
  return null;
}
