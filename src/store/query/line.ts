/**
 * A page of one line, with everything needed to say of each unit whether it may start. Nothing here is
 * locked.
 */
import type { Flow } from "../flow.ts";
import { flight, send } from "../flow.ts";
import { int, only } from "../row.ts";
import type { LineView } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { raw, sql } from "../sql.ts";
import type { HeadRow, LaneRow } from "../store.ts";
import { selectAsideAmong } from "./aside.ts";
import { gateInfos, selectGates } from "./gates.ts";
import { headRow, selectNow, selectSessions, selectUsage, UNIT, unnamed } from "./look.ts";
import { countOfQueue, knownIn, lanesFrom, selectFirst, selectLanesNamed, selectOfQueue } from "./near.ts";

/** Up to this place, a line is read from its front. Beyond it, only the first units of each lane are read. */
const FRONT = 5_000;

export function* line(queue: string, limit: number, offset = 0): Flow<LineView> {
  const from = offset + limit <= FRONT ? 0 : offset;
  const { clock, gates, usage, sessions, totals, units } = yield* flight({
    clock: selectNow(),
    gates: selectGates(),
    usage: selectUsage(),
    sessions: selectSessions(),
    totals: countUnits(queue),
    units: selectUnits(queue, limit + offset - from, from),
  });
  const [before, page] = [units.slice(0, offset - from), units.slice(offset - from)];
  const { found, ahead } = yield* aheadOf(queue, page[0], units, from > 0);
  const lanes = lanesFrom(found);
  const far = from > 0 ? yield* send(selectFirst(lanes, knownIn(found))) : before;
  const shown = new Set(page.map(({ id }) => id));
  const aside = yield* send(selectAsideAmong([...new Set([...page, ...far].map(({ lane }) => lane))]));
  const { total, later } = only(totals);
  return {
    now: only(clock),
    gates: gateInfos(gates),
    usage,
    lanes,
    heads: page,
    front: far.filter(({ id }) => !shown.has(id)),
    ahead,
    sessions: sessions.map(unnamed),
    cut: total > offset + page.length,
    total,
    later,
    aside,
  };
}

/** One row. */
const countUnits = (queue: string): Sql<Pick<LineView, "total" | "later">> =>
  sql`SELECT (SELECT count(*) FROM sluice_waiting w WHERE ${isOfQueue(queue)}) AS total,
      (SELECT count(*) FROM sluice_later d JOIN sluice_task t ON t.id = d.id WHERE t.queue = ${queue}) AS later`.as(
    (row) => ({ total: int(row.total), later: int(row.later) }),
  );

const selectUnits = (queue: string, limit: number, offset: number): Sql<HeadRow> =>
  sql`${UNIT} FROM sluice_waiting w WHERE ${isOfQueue(queue)}
      ORDER BY w.precedence, w.at, w.id LIMIT ${whole(limit)} OFFSET ${whole(offset)}`.as(headRow);

const whole = (number: number): Sql => raw(String(Math.trunc(number)));

const isOfQueue = (queue: string): Sql =>
  sql`w.lane IN (SELECT l.id FROM sluice_lane l WHERE l.queue = ${queue} UNION SELECT a.lane FROM sluice_arrival a WHERE a.queue = ${queue})`;

interface Around {
  readonly found: readonly LaneRow[];
  readonly ahead: LineView["ahead"];
}

/**
 * The lanes of these units, and the number of units ahead of them. If the units do not begin at the front of
 * the line, also the best lanes of the queue.
 */
function* aheadOf(
  queue: string,
  first: HeadRow | undefined,
  units: readonly HeadRow[],
  isFar: boolean,
): Flow<Around> {
  if (!first) return { found: [], ahead: [] };
  const spot = { rank: 0, precedence: 0 - first.priority, at: first.at, id: first.id };
  const ids = [...new Set(units.map(({ lane }) => lane))];
  return yield* flight({
    ahead: countOfQueue(queue, spot),
    found: [selectLanesNamed(ids), ...(isFar ? [selectOfQueue(queue)] : [])],
  });
}
