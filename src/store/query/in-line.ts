/** When units stood in line, for those whose own rows do not tell it: they have been in line more than once. */
import type { Flow, Row } from "../flow.ts";
import { flight } from "../flow.ts";
import type { Move, Stay } from "../in-line.ts";
import { MOVES, staysOf } from "../in-line.ts";
import { oneOf, sql } from "../sql.ts";

/** The number of the event that the rows of a unit tell first, its enqueue aside: 2 where they tell everything. */
export const FIRST_TOLD = "COALESCE(r.claimed_n, o.claimed_n, o.n, w.n + 1, d.n + 1)";

export type Moves = ReadonlyMap<string, readonly Move[]>;

/** Of the units in these rows, by the column `unit`; only moves from before what the rows tell. */
export function* movesOf(found: readonly Row[], unit: "id" | "unit" = "id"): Flow<Moves> {
  const told = new Map(found.map((row) => [row[unit] as string, Number(row.first_told)]));
  const ids = [...told].flatMap(([id, first]) => (first > 2 ? [id] : []));
  if (ids.length === 0) return new Map();
  const [events = []] = yield* flight(
    sql`SELECT subject, n, kind, at, data FROM sluice_event WHERE subject ${oneOf(ids)} AND kind ${oneOf(MOVES)} ORDER BY subject, n`,
  );
  const moves = new Map<string, Move[]>(ids.map((id) => [id, []]));
  for (const row of events) {
    const subject = row.subject as string;
    // A unit may have moved on since its rows were read.
    if (Number(row.n) >= (told.get(subject) ?? 0)) continue;
    moves.get(subject)?.push({
      kind: row.kind as string,
      at: Number(row.at),
      data: row.data as string | null,
    });
  }
  return moves;
}

/** Every time in line of a unit that is there, or was. */
export function stays(row: Row, moves: readonly Move[] = []): Stay[] {
  const away = row.claimed_at ?? row.finished_at ?? null;
  const last: Move[] = away === null ? [] : [{ kind: "TaskClaimed", at: Number(away), data: null }];
  const all = staysOf(Number(row.created_at), [...moves, ...last]);
  return row.place === "later" ? all.filter(({ until }) => until !== null) : all;
}
