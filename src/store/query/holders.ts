/** The holders of a gate's slots: claims whose code runs or is stopping. */
import type { Flow } from "../flow.ts";
import { send } from "../flow.ts";
import { asksOf } from "../lane.ts";
import type { Row } from "../row.ts";
import { int, intOrNull, text, textOrNull } from "../row.ts";
import type { GateHolder } from "../runs.ts";
import { leaseNow, sql } from "../sql.ts";
import { LOST } from "./look.ts";
import { HOLDING, toldStopping } from "./stopping.ts";

export function* holders(gate: string): Flow<GateHolder[]> {
  const found = yield* send(
    sql`SELECT r.id, r.session, r.claimed_at, CASE WHEN r.lease_ms IS NULL THEN NULL ELSE r.until_at - ${leaseNow} END AS lease_left, r.since, r.because, l.asks, t.name, t.run, t.step
      FROM ${HOLDING} AS r JOIN sluice_lane l ON l.id = r.lane JOIN sluice_task t ON t.id = r.id LEFT JOIN sluice_session s ON s.id = r.session
      WHERE r.held = 1 AND NOT ${LOST} ORDER BY r.epoch`.as((row) => holdersIn(row, gate)),
  );
  return found.flat();
}

/** The claim of this row, if it asks for the gate. */
function holdersIn(row: Row, gate: string): GateHolder[] {
  const ask = asksOf(text(row.asks)).find((each) => each.gate === gate);
  if (!ask) return [];
  return [
    {
      id: text(row.id),
      name: text(row.name),
      run: textOrNull(row.run),
      step: textOrNull(row.step),
      slots: ask.slots,
      session: text(row.session),
      claimedAt: int(row.claimed_at),
      leaseLeftMs: intOrNull(row.lease_left),
      ...toldStopping(row),
    },
  ];
}
