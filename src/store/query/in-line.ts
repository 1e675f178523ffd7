/** Finds out when units stood in line if they have been in line more than once. Their own rows do not say it. */
import type { Flow } from "../flow.ts";
import { send } from "../flow.ts";
import type { Move, Stay } from "../in-line.ts";
import { MOVES, staysOf } from "../in-line.ts";
import type { Row } from "../row.ts";
import { int, intOrNull, text, textOrNull, word } from "../row.ts";
import type { Sql } from "../sql.ts";
import { oneOf, raw, sql } from "../sql.ts";

/**
 * The number of the first event that a unit's rows imply, apart from its enqueue. It is 2 if they imply
 * everything.
 */
const FIRST_TOLD = "COALESCE(r.claimed_n, o.claimed_n, o.n, w.n + 1, d.n + 1)";

/** The column for `firstTold`, of a unit joined with its places. */
export const selectFirstTold = raw(`${FIRST_TOLD} AS first_told`);

/** A unit that is in no place has no number. */
export const firstTold = ({ first_told: first }: Row): number => intOrNull(first) ?? 0;

/** A unit's row, and the first event that its rows imply. */
export interface ToldRow<T> {
  readonly unit: string;
  readonly first: number;
  readonly row: T;
}

type Moves = ReadonlyMap<string, readonly Move[]>;

const NONE: readonly Move[] = [];

/** Completes rows with the earlier moves of their units. Most units have none. */
export function* withMoves<T, R>(
  found: readonly ToldRow<T>[],
  complete: (row: T, moves: readonly Move[]) => R,
): Flow<R[]> {
  const moves = yield* movesOf(found);
  return found.map(({ unit, row }) => complete(row, moves.get(unit) ?? NONE));
}

function* movesOf(found: readonly ToldRow<unknown>[]): Flow<Moves> {
  const told = new Map(found.flatMap(({ unit, first }) => (first > 2 ? [[unit, first] as const] : [])));
  const events = yield* send(told.size > 0 && selectMoves([...told.keys()]));
  const moves = new Map<string, Move[]>();
  for (const { unit, n, move } of events) {
    // A unit may have moved on since its rows were read.
    if (n >= (told.get(unit) ?? 0)) continue;
    const own = moves.get(unit);
    if (own) own.push(move);
    else moves.set(unit, [move]);
  }
  return moves;
}

const selectMoves = (units: readonly string[]) =>
  sql`SELECT subject, n, kind, at, data FROM sluice_event WHERE subject ${oneOf(units)} AND kind ${oneOf(MOVES)} ORDER BY subject, n`.as(
    (row) => ({ unit: text(row.subject), n: int(row.n), move: moveRow(row) }),
  );

const moveRow = (row: Row): Move => ({
  kind: word(row.kind),
  at: int(row.at),
  data: textOrNull(row.data),
});

/** A unit's place and the times in its own rows. */
interface Times {
  readonly place: string | null;
  readonly enqueuedAt: number;
  readonly claimedAt: number | null;
  readonly finishedAt: number | null;
}

/** Every stay in line of a unit, past and present. */
export function stays({ place, enqueuedAt, claimedAt, finishedAt }: Times, moves: readonly Move[]): Stay[] {
  const away = claimedAt ?? finishedAt;
  const last: Move[] = away === null ? [] : [{ kind: "TaskClaimed", at: away, data: null }];
  const all = staysOf(enqueuedAt, [...moves, ...last]);
  return place === "later" ? all.filter(({ until }) => until !== null) : all;
}

/** The first or last claim that a unit's rows no longer imply. */
export const earlierClaim = (unit: string, which: "first" | "last"): Sql =>
  raw(
    `CASE WHEN ${FIRST_TOLD} > 2 THEN (SELECT e.at FROM sluice_event e WHERE e.subject = ${unit} AND e.kind = 'TaskClaimed' ORDER BY e.n${which === "last" ? " DESC" : ""} LIMIT 1) END`,
  );
