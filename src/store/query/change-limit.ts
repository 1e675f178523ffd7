/** An operator sets, resets, pauses or resumes a limit. */
import type { Said } from "../../core/gate/declared.ts";
import { strictest } from "../../core/gate/declared.ts";
import type { Limit } from "../../core/gate/gate.ts";
import { familyOf } from "../../core/gate/key.ts";
import { undeclared } from "../../core/gate/kind.ts";
import type { Own } from "../family.ts";
import { inherit } from "../family.ts";
import type { Flow } from "../flow.ts";
import { commit, flight } from "../flow.ts";
import { int, only } from "../row.ts";
import type { Sql } from "../sql.ts";
import { forUpdate, now, raw, rows, sql } from "../sql.ts";
import type { LimitChange } from "../store.ts";
import { makesGate } from "../store.ts";
import type { NewEvent } from "./event.ts";
import { insertEvents, selectLastEvent } from "./event.ts";
import { ownGate } from "./gate-row.ts";
import { sayingRow } from "./saying.ts";
import { tellGates } from "./tell-others.ts";

/** This takes the gate's own lock, so a pass sees either the old limit or the new one. */
export function* changeLimit(change: LimitChange): Flow<{ from: Limit; limit: Limit } | undefined> {
  const family = familyOf(change.key);
  const { found, told, said, above } = yield* flight({
    found:
      sql`SELECT capacity, declared, paused, line, lease_ms, set_by, n FROM sluice_gate WHERE name = ${change.key}${forUpdate}`.as(
        (row) => ({ own: ownGate(row), n: int(row.n) }),
      ),
    // A gate that was deleted by plain SQL is created again, and its history goes on.
    told: selectLastEvent(change.key),
    said: sql`SELECT app, capacity, line, lease_ms, queue_rank, at FROM sluice_declared WHERE gate = ${change.key}`.as(
      sayingRow,
    ),
    above:
      sql`SELECT capacity, declared, paused, line, lease_ms, set_by FROM sluice_gate WHERE name = ${family ?? change.key}`.as(
        ownGate,
      ),
  });
  const [gate] = found;
  if (!gate && !makesGate(change)) return undefined;
  const n = Math.max(gate?.n ?? 0, only(told)) + 1;
  const born = strictest(said, undeclared(change.key));
  const before: Own = gate?.own ?? { ...born, declared: born.limit, setBy: null, paused: false };
  const limit =
    change.to === "value" ? change.limit : change.to === "declared" ? before.declared : before.limit;
  const setBy = change.to === "value" ? change.by : change.to === "declared" ? null : before.setBy;
  const inForce = (own: Own): Limit => inherit(change.key, own, family === null ? undefined : above[0]).limit;
  const answer = { from: inForce(before), limit: inForce({ ...before, limit, setBy }) };
  const changed: NewEvent = {
    subject: change.key,
    n,
    kind: EVENT[change.to],
    data: JSON.stringify({ by: change.by, from: answer.from, to: answer.limit }),
  };
  yield* commit([
    gate ? update(change, limit, n) : insertGate(change, limit, born, n),
    insertEvents([changed]),
    tellGates([changed]),
  ]);
  return answer;
}

const EVENT = {
  value: "LimitChanged",
  declared: "LimitReset",
  paused: "GatePaused",
  resumed: "GateResumed",
} as const;

function update(change: LimitChange, limit: Limit, n: number): Sql {
  const { key } = change;
  if (change.to === "paused" || change.to === "resumed")
    return sql`UPDATE sluice_gate SET paused = ${change.to === "paused" ? 1 : 0}, n = ${n} WHERE name = ${key}`;
  const setBy = change.to === "value" ? change.by : null;
  const leaseMs = leaseOf(change);
  const lease =
    change.to === "declared"
      ? raw("lease_declared")
      : leaseMs === undefined
        ? raw("lease_ms")
        : sql`${leaseMs}`;
  return sql`UPDATE sluice_gate SET capacity = ${limit}, lease_ms = ${lease}, set_by = ${setBy}, set_at = ${now}, n = ${n} WHERE name = ${key}`;
}

const leaseOf = (change: LimitChange): number | undefined =>
  change.to === "value" ? change.leaseMs : undefined;

/** Creates the gate with the value that is set, if any, and with what the apps declare for it. */
const insertGate = (change: LimitChange, limit: Limit, declared: Said, n: number): Sql =>
  sql`INSERT INTO sluice_gate (name, capacity, declared, paused, line, lease_ms, lease_declared, set_by, set_at, n) SELECT g.name, g.capacity, g.declared, g.paused, g.line, g.lease_ms, g.lease_declared, g.set_by, CASE WHEN g.set_by IS NULL THEN NULL ELSE ${now} END, g.n FROM ${rows(
    "g",
    {
      name: "text",
      capacity: "int",
      declared: "int",
      paused: "int",
      line: "text",
      lease_ms: "int",
      lease_declared: "int",
      set_by: "text",
      n: "int",
    },
    [
      {
        name: change.key,
        capacity: limit,
        declared: declared.limit,
        paused: change.to === "paused" ? 1 : 0,
        line: declared.line,
        lease_ms: leaseOf(change) ?? declared.leaseMs,
        lease_declared: declared.leaseMs,
        set_by: change.to === "value" ? change.by : null,
        n,
      },
    ],
  )}`;
