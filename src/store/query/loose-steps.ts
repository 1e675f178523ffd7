/**
 * Steps that wait for a detached run. That run is no unit of theirs, so it outlives them: the end of the run that waits
 * cancels such a step, and a late end of the detached run changes nothing.
 */
import type { Sql } from "../sql.ts";
import { sql } from "../sql.ts";

const CANCELLED = JSON.stringify({ by: "run" });

/** A step whose detached run has ended before has the end of that run. */
export const cancelLooseSteps = (run: string): Sql =>
  sql`UPDATE sluice_step SET state = 'cancelled', body = ${CANCELLED} WHERE run = ${run} AND state = 'open' AND unit IS NOT NULL
    AND (SELECT t.run FROM sluice_task t WHERE t.id = sluice_step.unit) IS NULL AND (SELECT o.id FROM sluice_outcome o WHERE o.id = sluice_step.unit) IS NULL`;

/** The run ended before the step `s` did, but the unit of the step has succeeded. A rerun has no need to run it again. */
const HAS_SUCCEEDED = sql`s.state IN ('open', 'cancelled') AND s.unit IS NOT NULL AND (SELECT o.state FROM sluice_outcome o WHERE o.id = s.unit) = 'succeeded'`;

export const EARLIER_STATE = sql`CASE WHEN ${HAS_SUCCEEDED} THEN 'succeeded' ELSE s.state END`;
export const EARLIER_BODY = sql`CASE WHEN ${HAS_SUCCEEDED} THEN NULL ELSE s.body END`;
