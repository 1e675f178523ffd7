/** Deletes signals that are no longer kept, some with each poll. */
import { inPortions } from "../portions.ts";
import { idOf } from "../row.ts";
import type { Sql } from "../sql.ts";
import { forUpdateSkipLocked, now, oneOf, raw, sql } from "../sql.ts";
import { SIGNALS_AT_ONCE, SWEEP_AFTER_MS } from "../store.ts";

/** A step that begins to wait may have found a signal in its last moment, and still has to read it. */
export const selectOldSignals = (): Sql<string> =>
  sql`SELECT id FROM sluice_signal WHERE until_at <= ${now} - ${raw(String(SWEEP_AFTER_MS))} ORDER BY until_at LIMIT ${raw(String(SIGNALS_AT_ONCE))}${forUpdateSkipLocked}`.as(
    idOf,
  );

export const deleteSignals = (ids: readonly string[]): Sql[] =>
  inPortions(ids, (some) => [
    sql`DELETE FROM sluice_signal_field WHERE signal_id ${oneOf(some)}`,
    sql`DELETE FROM sluice_signal WHERE id ${oneOf(some)}`,
  ]).flat();
