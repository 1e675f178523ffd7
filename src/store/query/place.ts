/** A unit's place is its state. It is derived once here, for all readers. */

/**
 * The state of a unit, from its places: `w` waiting, `d` later, `r` running, `o` outcome. `otherwise` is the
 * state of a unit that is in none of them.
 */
export const stateFrom = (otherwise: "'unknown'" | "NULL"): string =>
  `CASE WHEN o.state IS NOT NULL THEN o.state WHEN r.epoch IS NOT NULL THEN CASE WHEN r.started_at IS NULL AND r.progress IS NULL THEN 'claimed' ELSE 'running' END WHEN w.id IS NOT NULL THEN 'waiting' WHEN d.id IS NOT NULL THEN 'later' ELSE ${otherwise} END`;

/** The state of a run, from the same places. Its claim is `c`. */
export const RUN_STATE =
  "CASE WHEN o.state IN ('succeeded', 'cancelled') THEN o.state WHEN o.state IS NOT NULL THEN 'failed' WHEN c.started_at IS NOT NULL THEN 'started' WHEN c.id IS NOT NULL THEN 'notStarted' ELSE 'queued' END";

/** Joins the places of the unit with this id. For a run, its claim is named `c`. */
export const joinPlaces = (id: string, claim: "r" | "c" = "r"): string =>
  `LEFT JOIN sluice_waiting w ON w.id = ${id} LEFT JOIN sluice_later d ON d.id = ${id} LEFT JOIN sluice_running ${claim} ON ${claim}.id = ${id} LEFT JOIN sluice_outcome o ON o.id = ${id}`;
