/** Writes the end of a run, and sweeps its rows when none of its code runs any more. */
import type { RunMove } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { by, now, sql } from "../sql.ts";
import { insertAlso } from "./enqueue.ts";
import type { EndWriting } from "./expire.ts";
import { endRun, endUnitsOf } from "./expire.ts";
import { deleteWaits } from "./wait-begin.ts";

/** Ends a run, for whatever reason. */
export function finished(
  run: { readonly id: string; readonly epoch: number },
  { state, body, handler }: NonNullable<RunMove["finish"]>,
  ending: EndWriting,
): Sql[] {
  return [
    ...endUnitsOf([run.id], { state: "cancelled", body: JSON.stringify({ by: "run" }) }, ending),
    deleteTimersOf(run.id),
    ...deleteWaits(run.id),
    ...endRun(run, { state, body }, ending),
    ...(state === "succeeded" ? [recordSuccess(run.id)] : []),
    ...insertAlso(handler ? [handler] : []),
  ];
}

export const deleteTimersOf = (run: string): Sql => {
  const steps = sql`SELECT t.id FROM sluice_task t WHERE t.run = ${run}`;
  const lists = sql`SELECT s.lane FROM sluice_step s WHERE s.run = ${run} AND s.lane IS NOT NULL`;
  const ofAll = sql`DELETE FROM sluice_timer WHERE id = ${run} OR id IN (${steps}) OR id IN (${lists})`;
  return by({
    // An "or" would keep PostgreSQL from using the index.
    postgres: sql`DELETE FROM sluice_timer WHERE id IN (SELECT ${run} UNION ALL ${steps} UNION ALL ${lists})`,
    sqlite: ofAll,
    mysql: ofAll,
  });
};

const recordSuccess = (run: string): Sql =>
  sql`INSERT INTO sluice_success (workflow, run, at) SELECT u.workflow, u.id, ${now} FROM sluice_run u WHERE u.id = ${run} ${by(
    {
      postgres: "ON CONFLICT (workflow) DO UPDATE SET run = excluded.run, at = excluded.at",
      sqlite: "ON CONFLICT (workflow) DO UPDATE SET run = excluded.run, at = excluded.at",
      mysql: "ON DUPLICATE KEY UPDATE run = VALUES(run), at = VALUES(at)",
    },
  )}`;

/**
 * Gates come first and then lanes, as everywhere. A run's lanes are its own: each asks for one of the run's
 * gates. The arrivals of its steps are deleted before both, or the next pass would create them again.
 */
export function sweep(runs: readonly string[]): Sql[] {
  return runs.flatMap((run) => [
    // A run that was given up in line, after it had rested, may have left some.
    ...deleteWaits(run),
    by({
      postgres: sql`DELETE FROM sluice_arrival WHERE seq > 0 AND lane IN (SELECT t.lane FROM sluice_task t WHERE t.run = ${run})`,
      sqlite: sql`DELETE FROM sluice_arrival WHERE lane IN (SELECT t.lane FROM sluice_task t WHERE t.run = ${run})`,
      mysql: sql`DELETE a FROM sluice_arrival a JOIN sluice_task t ON t.lane = a.lane WHERE t.run = ${run}`,
    }),
    sql`DELETE FROM sluice_aside WHERE lane IN (SELECT t.lane FROM sluice_task t WHERE t.run = ${run})`,
    sql`DELETE FROM sluice_gate WHERE name >= ${`run:${run}/`} AND name < ${`run:${run}0`}`,
    by({
      postgres: sql`DELETE FROM sluice_lane WHERE id IN (SELECT t.lane FROM sluice_task t WHERE t.run = ${run})`,
      sqlite: sql`DELETE FROM sluice_lane WHERE id IN (SELECT t.lane FROM sluice_task t WHERE t.run = ${run})`,
      mysql: sql`DELETE l FROM sluice_lane l JOIN sluice_task t ON t.lane = l.id WHERE t.run = ${run}`,
    }),
  ]);
}
