/**
 * A run that rested, got an answer and went back in line is paused there: it leaves the line and rests again, so it takes
 * no slot for the pause. The resume brings news, and `advance` puts it back in its old place.
 */
import { RUNS } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { now, sql } from "../sql.ts";

export const outOfLine = (id: string): Sql[] => [
  sql`INSERT INTO sluice_running (id, lane, session, held, until_at, claimed_at, claimed_n, started_at, precedence, at, attempt, losses, good_until, n)
    SELECT w.id, w.lane, ${RUNS}, 0, NULL, ${now}, w.n + 1, u.began_at, w.precedence, w.at, w.attempt + 1, w.losses, w.good_until, w.n + 1
    FROM sluice_waiting w JOIN sluice_run u ON u.id = w.id WHERE w.id = ${id}`,
  sql`DELETE FROM sluice_waiting WHERE id = ${id}`,
];
