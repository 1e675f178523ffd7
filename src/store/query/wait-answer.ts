/**
 * Answers of waiting steps: of a person, or because the time is up. The first answer stays: whoever writes one
 * locks the row of the wait and looks whether it has one.
 */
import { inByteOrder } from "../../core/text.ts";
import type { Flow } from "../flow.ts";
import { commit, send } from "../flow.ts";
import { inPortions } from "../portions.ts";
import type { Row } from "../row.ts";
import { textOrNull } from "../row.ts";
import type { Sql } from "../sql.ts";
import { forUpdate, oneOf, sql } from "../sql.ts";
import type { StepKey, WaitAnswer } from "../store.ts";
import { LAPSED, waitSubject } from "../store.ts";
import type { NewEvent } from "./event.ts";
import { insertEvents } from "./event.ts";
import { insertNewsOfRuns } from "./news.ts";
import { tellRuns } from "./tell-others.ts";

interface Held {
  /** Null as long as it waits. */
  readonly state: string | null;
  readonly lateState: "succeeded" | "failed" | null;
}

const lockWait = ({ run, step }: StepKey): Sql<Held> =>
  sql`SELECT state, late_state FROM sluice_wait WHERE run = ${run} AND step = ${step}${forUpdate}`.as(
    (row: Row) => ({
      state: textOrNull(row.state),
      lateState: textOrNull(row.late_state) as Held["lateState"],
    }),
  );

export function* answerWait(
  { run, step }: StepKey,
  { state, body, told }: WaitAnswer,
): Flow<boolean | undefined> {
  const [held] = yield* send(lockWait({ run, step }));
  if (!held || held.state !== null) return held && false;
  yield* commit([
    sql`UPDATE sluice_wait SET state = ${state}, body = ${body}, topic = NULL WHERE run = ${run} AND step = ${step}`,
    answered([{ run, step }], state, told),
  ]);
  return true;
}

export function* lapseWait({ run, step }: StepKey): Flow<boolean> {
  const [held] = yield* send(lockWait({ run, step }));
  if (!held?.lateState || held.state !== null) {
    yield* commit(deleteTimers([{ run, step }]));
    return false;
  }
  yield* commit([
    sql`UPDATE sluice_wait SET state = late_state, body = late_body, topic = NULL WHERE run = ${run} AND step = ${step}`,
    answered([{ run, step }], held.lateState, LAPSED),
  ]);
  return true;
}

const deleteTimers = (waits: readonly StepKey[]): Sql[] =>
  inPortions(
    waits.map(waitSubject),
    (some) => sql`DELETE FROM sluice_timer WHERE id ${oneOf(some)} AND kind = 'wait'`,
  );

/** What an answer brings with it: its event, news of the run, and the end of the timer. */
export function answered(waits: readonly StepKey[], state: WaitAnswer["state"], told: string): Sql[] {
  if (waits.length === 0) return [];
  const data = JSON.stringify({ ...(JSON.parse(told) as object), state });
  const runs = [...new Set(waits.map(({ run }) => run))].sort(inByteOrder);
  return [
    ...insertEvents(
      waits.map((wait): NewEvent => ({ subject: waitSubject(wait), n: 2, kind: "StepAnswered", data })),
    ),
    ...tellRuns(waits.map(({ run, step }) => ({ run, kind: "StepAnswered", step, data }))),
    ...inPortions(runs, insertNewsOfRuns),
    ...deleteTimers(waits),
  ];
}
