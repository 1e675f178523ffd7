/**
 * A signal is stored and answers the steps that wait for it, in one transaction. Its locks: the topic, then the
 * rows of the waits. It takes no lock of a run: it leaves news, and `advance` ends the steps.
 */
import { inByteOrder } from "../../core/text.ts";
import type { Flow } from "../flow.ts";
import { commit, flight, send } from "../flow.ts";
import { fieldKey, fieldsOf, keyFor } from "../match.ts";
import { inPortions } from "../portions.ts";
import { idOf, text, textOrNull } from "../row.ts";
import type { Sql } from "../sql.ts";
import { by, forUpdate, now, oneOf, rows, sql } from "../sql.ts";
import type { NewSignal, Signalled, StepKey } from "../store.ts";
import { tellOthers } from "./tell-others.ts";
import { holdToSignal, selectFields } from "./topic.ts";
import { answered } from "./wait-answer.ts";

/** With `isAgain`, an answer was lost. A signal with our ID is there if the first try has arrived. */
export function* signal(sent: NewSignal, isAgain = false): Flow<Signalled> {
  const { id, event, key, payload } = sent;
  yield* holdToSignal(event);
  const { arrived, known, compared } = yield* flight({
    arrived: isAgain && sql`SELECT id FROM sluice_signal WHERE id = ${id}`.as(idOf),
    expired: key !== null && deleteExpired(event, key),
    inserted: insertSignal(sent),
    known: selectSignal(sent),
    compared: selectFields(event),
  });
  if (arrived.length > 0) return { id, created: true, woken: 0 };
  const [first = id] = known;
  if (first !== id) return { id: first, created: false, woken: 0 };
  const fields = fieldsOf(payload);
  const values = new Map(fields);
  const keys = compared.flatMap((names) => keyFor(names, values) ?? []);
  const found = keys.length > 0 ? yield* lockWaits(event, keys) : [];
  const woken = onePerRun(found);
  yield* commit([
    insertFieldsOf(sent, fields.map(fieldKey)),
    woken.length > 0 && answerAll(sent, keys, woken, found),
    answered(woken, "succeeded", JSON.stringify({ how: "signal", signal: id })),
    tellOthers([{ kind: "SignalSent", subject: event, data: JSON.stringify({ id, woken: woken.length }) }]),
  ]);
  return { id, created: true, woken: woken.length };
}

/** In each run, the step that has waited longest. */
function onePerRun(found: readonly StepKey[]): StepKey[] {
  const first = new Map<string, StepKey>();
  for (const wait of found) if (!first.has(wait.run)) first.set(wait.run, wait);
  return [...first.values()];
}

/** A key counts only as long as its signal is kept. */
const deleteExpired = (event: string, key: string): Sql =>
  sql`DELETE FROM sluice_signal WHERE event = ${event} AND idem_key = ${key} AND until_at <= ${now}`;

const insertSignal = ({ id, event, key, payload, keepMs }: NewSignal): Sql =>
  sql`INSERT INTO sluice_signal (id, event, idem_key, payload, at, until_at) VALUES (${id}, ${event}, ${key}, ${payload}, ${now}, ${now} + ${keepMs}) ${by(
    {
      postgres: "ON CONFLICT DO NOTHING",
      sqlite: "ON CONFLICT DO NOTHING",
      mysql: "ON DUPLICATE KEY UPDATE sluice_signal.id = sluice_signal.id",
    },
  )}`;

const selectSignal = ({ id, event, key }: NewSignal): Sql<string> =>
  (key === null
    ? sql`SELECT id FROM sluice_signal WHERE id = ${id}`
    : sql`SELECT id FROM sluice_signal WHERE event = ${event} AND idem_key = ${key}`
  ).as(idOf);

/**
 * The waits are found by their topic and locked by their key, as everybody locks them. If they were locked as
 * they are found, MariaDB would lock the index first, and end one of two transactions that answer a wait.
 */
function* lockWaits(event: string, keys: readonly string[]): Flow<StepKey[]> {
  const runs = yield* send(
    sql`SELECT DISTINCT run FROM sluice_wait WHERE topic = ${event} AND match_key ${oneOf(keys)}`.as(
      ({ run }) => text(run),
    ),
  );
  if (runs.length === 0) return [];
  const held = yield* send(inPortions(runs.sort(inByteOrder), lockWaitsOf));
  const wanted = new Set(keys);
  return held.filter(({ topic, matchKey }) => topic === event && wanted.has(matchKey ?? ""));
}

interface HeldWait extends StepKey {
  /** Null if the wait has an answer. */
  readonly topic: string | null;
  readonly matchKey: string | null;
}

const lockWaitsOf = (runs: readonly string[]): Sql<HeldWait> =>
  sql`SELECT run, step, topic, match_key FROM sluice_wait WHERE run ${oneOf(runs)} ORDER BY run, at, step${forUpdate}`.as(
    (row) => ({
      run: text(row.run),
      step: text(row.step),
      topic: textOrNull(row.topic),
      matchKey: textOrNull(row.match_key),
    }),
  );

/** Most runs have one step that matches. They are answered together; the others, one by one. */
function answerAll(
  { id, event }: NewSignal,
  keys: readonly string[],
  woken: readonly StepKey[],
  found: readonly StepKey[],
): Sql[] {
  const many = new Map<string, number>();
  for (const { run } of found) many.set(run, (many.get(run) ?? 0) + 1);
  const alone = woken.flatMap(({ run }) => (many.get(run) === 1 ? [run] : []));
  const others = woken.filter(({ run }) => many.get(run) !== 1);
  const answer = sql`UPDATE sluice_wait SET state = 'succeeded', body = (SELECT s.payload FROM sluice_signal s WHERE s.id = ${id}), signal_id = ${id}, topic = NULL`;
  return [
    ...inPortions(
      alone,
      (some) => sql`${answer} WHERE run ${oneOf(some)} AND topic = ${event} AND match_key ${oneOf(keys)}`,
    ),
    ...others.map(({ run, step }) => sql`${answer} WHERE run = ${run} AND step = ${step}`),
  ];
}

const FIELD = { field_key: "text" } as const;

const insertFieldsOf = ({ id, event }: NewSignal, keys: readonly string[]): Sql[] =>
  inPortions(
    [...new Set(keys)].map((field_key) => ({ field_key })),
    (some) =>
      sql`INSERT INTO sluice_signal_field (signal_id, field_key, event, at) SELECT s.id, f.field_key, ${event}, s.at FROM ${rows("f", FIELD, some)} JOIN sluice_signal s ON s.id = ${id}`,
  );
