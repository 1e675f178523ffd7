/**
 * Ends units that have not started and may not start any more, because an item or a step has failed. The transaction
 * that records the failure does so, whatever the cause of the failure. It may hold a lock of the child run that has
 * failed, so it waits for no lock of the parent: it leaves out units that are locked. The next look at the parent ends
 * these.
 */
import { bodyOfStopped } from "../../core/run/fail-fast.ts";
import { HANDLES_FAILURE } from "../../core/unit-options.ts";
import { failureOf } from "../failure-of.ts";
import { RUNS } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { by, forUpdate, raw, sql } from "../sql.ts";
import type { News } from "../store.ts";
import { tellChildren } from "./child.ts";
import type { End, EndWriting } from "./expire.ts";
import { endEverywhere, endFrom } from "./expire.ts";

interface ItemsToEnd {
  readonly run: string;
  readonly step: string;
  /** True to end running items, too. */
  readonly inFlight: boolean;
  /** For a pass: items that are locked are left to `advance`. */
  readonly unlockedOnly?: boolean;
}

/** Ends items of a step that must not start any more. */
export const endItems = (
  { run, step, inFlight, unlockedOnly = false }: ItemsToEnd,
  ending: EndWriting,
): Sql[] => {
  const which = sql`u.id IN (SELECT k.id FROM sluice_task k WHERE k.run = ${run} AND k.step = ${step})`;
  const end: End = { state: "cancelled", body: JSON.stringify({ by: "onFailure" }) };
  return [
    ...(inFlight
      ? [...endEverywhere(which, end, ending), tellChildren([run])]
      : endUnstarted({ which, unlockedOnly }, end, ending)),
    sql`DELETE FROM sluice_timer WHERE id IN (SELECT t.id FROM sluice_task t JOIN sluice_outcome o ON o.id = t.id WHERE t.run = ${run} AND t.step = ${step})`,
  ];
};

interface Unstarted {
  readonly which: Sql;
  /** True to leave out units that have had an attempt. */
  readonly untried?: boolean;
  readonly unlockedOnly: boolean;
}

/**
 * Ends units that wait: in line, delayed, prefetched, or admitted and not started, as a child run can be. Nothing of
 * them runs, so their claims keep no slots.
 */
function endUnstarted(
  { which, untried = false, unlockedOnly }: Unstarted,
  end: End,
  ending: EndWriting,
): Sql[] {
  const waits = untried ? sql`${which} AND u.attempt = 0` : which;
  const prefetched = raw(untried ? "u.held = 0 AND u.attempt = 1" : "u.held = 0");
  const claims = sql`${which} AND u.started_at IS NULL AND (u.session = ${RUNS} OR (${prefetched}))`;
  const claimsById = sql`SELECT u.id FROM sluice_running u WHERE ${claims} ORDER BY u.id${forUpdate}`;
  const inLine = (["sluice_waiting", "sluice_later"] as const).flatMap((table) =>
    endFrom({ table, which: waits, unlockedOnly }, end, ending),
  );
  return [
    ...inLine,
    ...(ending.dialect === "postgres" && !unlockedOnly ? [claimsById] : []),
    ...endFrom({ table: "sluice_running", which: claims, stopping: raw("1 = 0"), unlockedOnly }, end, ending),
  ];
}

interface LineToEnd {
  readonly run: string;
  /** The step that failed. */
  readonly because: string;
  /** For a transaction that does not hold the run: units that are locked are left to `advance`. */
  readonly unlockedOnly?: boolean;
}

/** Ends the units of a run that have not started, except those that handle failures. */
export function endLine({ run, because, unlockedOnly = false }: LineToEnd, ending: EndWriting): Sql[] {
  const handles = by({
    postgres: sql`strpos(k.options, ${HANDLES_FAILURE}) > 0`,
    sqlite: sql`instr(k.options, ${HANDLES_FAILURE}) > 0`,
    mysql: sql`INSTR(k.options, ${HANDLES_FAILURE}) > 0`,
  });
  const which = sql`u.id IN (SELECT k.id FROM sluice_task k WHERE k.run = ${run} AND NOT ${handles})`;
  const end: End = { state: "cancelled", body: bodyOfStopped(because) };
  return [
    ...endUnstarted({ which, untried: true, unlockedOnly }, end, ending),
    sql`DELETE FROM sluice_timer WHERE id IN (SELECT t.id FROM sluice_task t JOIN sluice_outcome o ON o.id = t.id WHERE t.run = ${run})`,
  ];
}

/** For the transaction that records a failure: ends the units that may no longer start because of it. */
export function endStopped({ run, failed, stops }: News, ending: EndWriting): Sql[] {
  if (stops === undefined || failed === null) return [];
  if (stops === "run") return endLine({ run, because: failed, unlockedOnly: true }, ending);
  return endItems({ run, step: failed, inFlight: false, unlockedOnly: true }, ending);
}

/** The same for the failure of the unit with these options. It may be a child run, whose parent is not locked here. */
export function endStoppedBy(options: string | undefined, ending: EndWriting): Sql[] {
  const news = options === undefined ? undefined : failureOf(options);
  return news ? endStopped(news, ending) : [];
}
