/** Writes the end of a run, and sweeps its rows when none of its code runs any more. */
import type { RunMove } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { by, now, sql } from "../sql.ts";
import { tellParents } from "./child.ts";
import { insertAlso } from "./enqueue.ts";
import type { EndWriting } from "./expire.ts";
import { endRun, endUnitsOf } from "./expire.ts";
import { cancelLooseSteps } from "./loose-steps.ts";
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
    cancelLooseSteps(run.id),
    ...endRun(run, { state, body }, ending),
    ...(state === "succeeded" ? [recordSuccess(run.id)] : []),
    tellParents([run.id]),
    ...insertAlso(handler ? [handler] : []),
  ];
}

/** Ends what is left of a run that has ended as a unit of its parent. */
export const endedBelow = (
  run: { readonly id: string; readonly epoch: number },
  ending: EndWriting,
): Sql[] => [
  ...endUnitsOf([run.id], { state: "cancelled", body: JSON.stringify({ by: "run" }) }, ending),
  deleteTimersOf(run.id),
  ...deleteWaits(run.id),
  cancelLooseSteps(run.id),
  sql`UPDATE sluice_stopping SET because = 'cancelled' WHERE epoch = ${run.epoch}`,
];

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

/** A child run is a part of another success. */
const recordSuccess = (run: string): Sql =>
  sql`INSERT INTO sluice_success (workflow, run, at) SELECT u.workflow, u.id, ${now} FROM sluice_run u WHERE u.id = ${run} AND u.root IS NULL ${by(
    {
      postgres: "ON CONFLICT (workflow) DO UPDATE SET run = excluded.run, at = excluded.at",
      sqlite: "ON CONFLICT (workflow) DO UPDATE SET run = excluded.run, at = excluded.at",
      mysql: "ON DUPLICATE KEY UPDATE run = VALUES(run), at = VALUES(at)",
    },
  )}`;

/** A run that is over, and whether it is at the top of its tree. */
interface Swept {
  readonly id: string;
  readonly isRoot: boolean;
}

/**
 * Gates come first and then lanes, as everywhere. The lanes of a tree are its own: each asks for a gate of its root.
 * Equal steps of several child runs share a lane, so the root deletes it. A child deletes only lanes that ask for its
 * own gates. The arrivals of its steps are deleted before both, or the next pass would create them again.
 */
export function sweep(runs: readonly Swept[]): Sql[] {
  return runs.flatMap((run) => {
    const lanes = lanesOf(run);
    return [
      // A run that was given up in line, after it had rested, may have left some.
      ...deleteWaits(run.id),
      by({
        postgres: sql`DELETE FROM sluice_arrival WHERE seq > 0 AND lane IN (${lanes})`,
        sqlite: sql`DELETE FROM sluice_arrival WHERE lane IN (${lanes})`,
        mysql: sql`DELETE a FROM sluice_arrival a JOIN (${lanes}) AS t ON t.lane = a.lane`,
      }),
      sql`DELETE FROM sluice_aside WHERE lane IN (${lanes})`,
      sql`DELETE FROM sluice_gate WHERE name >= ${`run:${run.id}/`} AND name < ${`run:${run.id}0`}`,
      by({
        postgres: sql`DELETE FROM sluice_lane WHERE id IN (${lanes})`,
        sqlite: sql`DELETE FROM sluice_lane WHERE id IN (${lanes})`,
        mysql: sql`DELETE l FROM sluice_lane l JOIN (${lanes}) AS t ON t.lane = l.id`,
      }),
    ];
  });
}

function lanesOf({ id, isRoot }: Swept): Sql {
  const own = sql`SELECT t.lane FROM sluice_task t WHERE t.run = ${id}`;
  if (isRoot)
    return sql`${own} UNION SELECT t.lane FROM sluice_run u JOIN sluice_task t ON t.run = u.id WHERE u.root = ${id}`;
  const gate = `"run:${id}/`;
  return sql`${own} AND ${by({
    postgres: sql`strpos(t.asks, ${gate}) > 0`,
    sqlite: sql`instr(t.asks, ${gate}) > 0`,
    mysql: sql`INSTR(t.asks, ${gate}) > 0`,
  })}`;
}
