/**
 * Steps that begin to wait, and the signals that were sent before. Under the lock of the topic, no signal of the
 * event is on its way.
 */
import type { Flow } from "../flow.ts";
import { flight } from "../flow.ts";
import { fieldKey, matchKey } from "../match.ts";
import { inPortions } from "../portions.ts";
import { text } from "../row.ts";
import type { RunMove } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { now, oneOf, raw, rows, sql } from "../sql.ts";
import type { AwaitedEvent, NewWait, StepKey } from "../store.ts";
import { waitSubject } from "../store.ts";
import { insertEvents } from "./event.ts";
import type { Audible } from "./since.ts";
import { hearingOf } from "./since.ts";
import { tellRuns } from "./tell-others.ts";
import { holdToWait, insertFields } from "./topic.ts";
import { answered } from "./wait-answer.ts";

interface Beginning extends StepKey {
  readonly wait: NewWait;
}

interface ForEvent extends StepKey {
  readonly event: AwaitedEvent;
}

/** The signals that steps take as soon as they begin to wait, by the subject of the wait. */
export type Taken = ReadonlyMap<string, string>;

export const beginnings = ({ run, steps }: RunMove): Beginning[] =>
  steps.flatMap(({ name, wait }) => (wait ? [{ run, step: name, wait }] : []));

/** Locks the topics that these moves wait for, and looks for signals. It comes before all writes. */
export function* sentBefore(moves: readonly RunMove[]): Flow<Taken> {
  const waiting = moves
    .flatMap(beginnings)
    .flatMap(({ run, step, wait: { event } }): ForEvent[] => (event ? [{ run, step, event }] : []));
  if (waiting.length === 0) return new Map();
  yield* holdToWait(waiting.map(({ event }) => event.name));
  const hearing = yield* hearingOf([...new Set(waiting.map(({ run }) => run))]);
  const { sent } = yield* flight({
    fields: insertFields(
      waiting.map(({ event: { name, match } }) => ({ event: name, names: match.map(([field]) => field) })),
    ),
    sent: waiting.map((wait) => selectSent(wait, hearing.get(wait.run) as Audible, ofRun(waiting, wait.run))),
  });
  const taken = new Map<string, string>();
  const used = new Set<string>();
  // Two steps of one run that begin together do not take the same signal.
  for (const { subject, signal, run } of sent) {
    if (taken.has(subject) || used.has(`${run} ${signal}`)) continue;
    taken.set(subject, signal);
    used.add(`${run} ${signal}`);
  }
  return taken;
}

const ofRun = (waiting: readonly ForEvent[], run: string): number =>
  waiting.filter((each) => each.run === run).length;

interface Sent {
  readonly subject: string;
  readonly run: string;
  readonly signal: string;
}

/** Signals that the run can hear, that are still kept, and that no other step of the run has taken. */
function selectSent(
  { run, step, event: { name, match } }: ForEvent,
  { since, taken }: Audible,
  most: number,
): Sql<Sent> {
  const [first, ...rest] = match.map(fieldKey);
  const others = rest.map(
    (key) =>
      sql` AND (SELECT g.signal_id FROM sluice_signal_field g WHERE g.signal_id = s.id AND g.field_key = ${key}) IS NOT NULL`,
  );
  const source =
    first === undefined
      ? sql`sluice_signal s WHERE s.event = ${name} AND s.at >= ${since}`
      : sql`sluice_signal_field f JOIN sluice_signal s ON s.id = f.signal_id WHERE f.event = ${name} AND f.field_key = ${first} AND f.at >= ${since}`;
  const order = raw(first === undefined ? "s.at, s.id" : "f.at, f.signal_id");
  return sql`SELECT s.id FROM ${source} AND s.until_at > ${now}${others.reduce((all, one) => sql`${all}${one}`, raw(""))}
      AND (SELECT MIN(w.step) FROM sluice_wait w WHERE w.run = ${run} AND w.signal_id = s.id) IS NULL${taken.length > 0 ? sql` AND NOT s.id ${oneOf(taken)}` : raw("")} ORDER BY ${order} LIMIT ${raw(String(most))}`.as(
    ({ id }) => ({ subject: waitSubject({ run, step }), run, signal: text(id) }),
  );
}

const WAIT = {
  run: "text",
  step: "text",
  topic: "text",
  match_key: "text",
  late_state: "text",
  late_body: "text",
  signal_id: "text",
} as const;

export function insertWaits(waits: readonly Beginning[], taken: Taken, quiet: boolean): Sql[] {
  if (waits.length === 0) return [];
  const signalOf = (wait: StepKey): string | null => taken.get(waitSubject(wait)) ?? null;
  return [
    ...inPortions(
      waits.map(({ run, step, wait: { event, late } }) => ({
        run,
        step,
        topic: event && signalOf({ run, step }) === null ? event.name : null,
        match_key: event && matchKey(event.match),
        late_state: late?.state ?? null,
        late_body: late?.body ?? null,
        signal_id: signalOf({ run, step }),
      })),
      (
        some,
      ) => sql`INSERT INTO sluice_wait (run, step, topic, match_key, late_state, late_body, state, body, signal_id, at)
        SELECT n.run, n.step, n.topic, n.match_key, n.late_state, n.late_body, CASE WHEN n.signal_id IS NULL THEN NULL ELSE 'succeeded' END, s.payload, n.signal_id, ${now}
        FROM ${rows("n", WAIT, some)} LEFT JOIN sluice_signal s ON s.id = n.signal_id`,
    ),
    ...insertEvents(
      waits.map((each) => ({
        subject: waitSubject(each),
        n: 1,
        kind: "StepWaiting" as const,
        data: each.wait.told,
      })),
    ),
    ...tellRuns(
      (quiet ? [] : waits).map(({ run, step, wait }) => ({
        run,
        kind: "StepWaiting",
        step,
        data: wait.told,
      })),
    ),
    ...waits.flatMap(({ run, step }) => {
      const signal = signalOf({ run, step });
      return signal === null
        ? []
        : answered([{ run, step }], "succeeded", JSON.stringify({ how: "signal", signal }));
    }),
  ];
}

/** The answers of steps that end now. They become the bodies of the steps, and the waits keep no copy. */
export function takeAnswers({ run, steps }: RunMove): Sql[] {
  const names = steps.flatMap(({ name, answered: isAnswered }) => (isAnswered ? [name] : []));
  if (names.length === 0) return [];
  return [
    sql`UPDATE sluice_step SET body = (SELECT w.body FROM sluice_wait w WHERE w.run = sluice_step.run AND w.step = sluice_step.name) WHERE run = ${run} AND name ${oneOf(names)}`,
    sql`UPDATE sluice_wait SET body = NULL, late_body = NULL WHERE run = ${run} AND step ${oneOf(names)}`,
  ];
}

export const deleteWaits = (run: string): Sql[] => [
  sql`DELETE FROM sluice_wait WHERE run = ${run}`,
  sql`DELETE FROM sluice_timer WHERE id >= ${`${run}/`} AND id < ${`${run}0`}`,
];
