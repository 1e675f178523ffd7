/** Steps that wait, or have waited, as their histories tell it. Their rows are gone once the run is over. */
import { int, text, textOrNull } from "../row.ts";
import type { StepRow } from "../runs.ts";
import { waitOfSubject, waitSubject } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { oneOf, sql } from "../sql.ts";
import type { WaitRow } from "../store.ts";

interface WaitEvent {
  readonly step: string;
  readonly n: number;
  readonly at: number;
  readonly data: string;
}

/** Only a step without a unit and without items may wait. */
export function selectWaitsOf(
  run: string,
  steps: readonly Pick<StepRow, "name" | "unit" | "fan">[],
): Sql<WaitEvent>[] {
  const subjects = steps.flatMap(({ name, unit, fan }) =>
    unit === null && fan === null ? [waitSubject({ run, step: name })] : [],
  );
  if (subjects.length === 0) return [];
  return [
    sql`SELECT subject, n, at, data FROM sluice_event WHERE subject ${oneOf(subjects)} ORDER BY subject, n`.as(
      (row) => ({
        step: waitOfSubject(text(row.subject)).step,
        n: int(row.n),
        at: int(row.at),
        data: textOrNull(row.data) ?? "{}",
      }),
    ),
  ];
}

export function waitRow(events: readonly WaitEvent[], step: string): WaitRow | null {
  const [begun, answered] = events.filter((each) => each.step === step);
  if (!begun) return null;
  return {
    since: begun.at,
    told: begun.data,
    answeredAt: answered?.at ?? null,
    answer: answered?.data ?? null,
  };
}
