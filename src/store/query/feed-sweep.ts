/** Sweeps the feed: listeners that were not renewed, and changes that no reader can ask for any more. */
import { idOf, int, intOrNull } from "../row.ts";
import type { Sql } from "../sql.ts";
import { now, oneOf, raw, sql, throughKey } from "../sql.ts";
import { LEAST_KEEP_MS, MARGIN_MS } from "../store.ts";

/** The most rows swept at once. */
const SWEPT = raw("2000");

const LONGEST_KEEP = sql`(SELECT COALESCE(max(x.keep_ms), ${raw(String(LEAST_KEEP_MS))}) FROM sluice_listener x WHERE ${throughKey("x.id")})`;

/** Part of a flight, under these names. */
export const selectOld = {
  oldListeners:
    sql`SELECT id FROM sluice_listener WHERE ${throughKey("id")} AND until_at < ${now} ORDER BY id LIMIT 100`.as(
      idOf,
    ),
  // Older than the longest keep time of all listeners, and its margin. Without listeners, the least keep time applies, so
  // that a late reader can still get them.
  lastOld:
    sql`SELECT max(c.pos) AS pos FROM (SELECT o.pos, o.told_at FROM sluice_change o ORDER BY o.pos LIMIT ${SWEPT}) AS c
    WHERE c.told_at < ${now} - ${LONGEST_KEEP} - ${raw(String(MARGIN_MS))}`.as(({ pos }) => intOrNull(pos)),
  // Changes recorded for listeners that are gone.
  orphans:
    sql`SELECT c.seq FROM sluice_change_new c WHERE (SELECT x.topics FROM sluice_listener x WHERE ${throughKey("x.id")} LIMIT 1) IS NULL ORDER BY c.seq LIMIT ${SWEPT}`.as(
      ({ seq }) => int(seq),
    ),
};

interface Old {
  readonly oldListeners: readonly string[];
  /** The last change that no reader can ask for any more. */
  readonly lastOld: readonly (number | null)[];
  readonly orphans: readonly number[];
}

/** No statements if nothing is old. A listener that was renewed in the meantime stays. */
export function sweep({ oldListeners, lastOld, orphans }: Old, except: readonly string[] = []): Sql[] {
  const gone = oldListeners.filter((id) => !except.includes(id));
  const [upTo = null] = lastOld;
  return [
    ...(gone.length > 0
      ? [sql`DELETE FROM sluice_listener WHERE id ${oneOf(gone)} AND until_at < ${now}`]
      : []),
    ...(upTo === null ? [] : sweepUpTo(upTo)),
    ...(orphans.length > 0 ? [sql`DELETE FROM sluice_change_new WHERE seq ${oneOf(orphans)}`] : []),
  ];
}

const sweepUpTo = (position: number): Sql[] => [
  sql`UPDATE sluice_feed SET swept_pos = ${position} WHERE id = 1 AND swept_pos < ${position}`,
  sql`DELETE FROM sluice_change WHERE pos <= ${position}`,
];
