/**
 * The lock that a signal and a step that begins to wait for its event have in common: the row of the topic. A
 * signal takes it shared, a step exclusively, and both look for each other in a later statement. Without it,
 * each could miss the other, because neither sees rows that are not committed yet.
 */
import { inByteOrder } from "../../core/text.ts";
import type { Flow } from "../flow.ts";
import { flight, send } from "../flow.ts";
import { fieldsKey } from "../match.ts";
import { inPortions } from "../portions.ts";
import { text } from "../row.ts";
import type { Sql } from "../sql.ts";
import { by, forShare, forUpdate, oneOf, rows, sql } from "../sql.ts";

/** Locks the topics of these events by name. A topic that is missing is created. */
function* hold(events: readonly string[], lock: Sql): Flow<void> {
  const wanted = [...new Set(events)].sort(inByteOrder);
  const held = new Set(yield* send(lockTopics(wanted, lock)));
  const missing = wanted.filter((event) => !held.has(event));
  if (missing.length === 0) return;
  const topics = missing.map((event) => ({ event, fields_key: "", fields: "" }));
  yield* flight({ made: insertTopics(topics), held: lockTopics(missing, lock) });
}

export const holdToSignal = (event: string): Flow<void> => hold([event], forShare);

export const holdToWait = (events: readonly string[]): Flow<void> => hold(events, forUpdate);

const lockTopics = (events: readonly string[], lock: Sql): Sql<string> =>
  sql`SELECT event FROM sluice_topic WHERE event ${oneOf(events)} AND fields_key = '' ORDER BY event${lock}`.as(
    ({ event }) => text(event),
  );

const TOPIC = { event: "text", fields_key: "text", fields: "text" } as const;

interface TopicRow {
  readonly event: string;
  readonly fields_key: string;
  readonly fields: string;
}

const insertTopics = (topics: readonly TopicRow[]): Sql[] =>
  inPortions(
    topics.map(({ event, fields_key, fields }) => ({ event, fields_key, fields })),
    (some) =>
      sql`INSERT INTO sluice_topic (event, fields_key, fields) SELECT n.event, n.fields_key, n.fields FROM ${rows("n", TOPIC, some)} ${by(
        {
          postgres: "ON CONFLICT DO NOTHING",
          sqlite: "WHERE true ON CONFLICT DO NOTHING",
          mysql: "ON DUPLICATE KEY UPDATE sluice_topic.event = sluice_topic.event",
        },
      )}`,
  );

/** Remembers the fields that steps compare, so that signals know by which keys to look for them. */
export function insertFields(
  compared: readonly { readonly event: string; readonly names: readonly string[] }[],
): Sql[] {
  const distinct = new Map<string, TopicRow>();
  for (const { event, names } of compared) {
    const row = { event, fields_key: fieldsKey(names), fields: JSON.stringify(names) };
    distinct.set(JSON.stringify([event, row.fields_key]), row);
  }
  return insertTopics([...distinct].sort(([a], [b]) => inByteOrder(a, b)).map(([, row]) => row));
}

export const selectFields = (event: string): Sql<readonly string[]> =>
  sql`SELECT fields FROM sluice_topic WHERE event = ${event} AND fields_key > ''`.as(
    ({ fields }) => JSON.parse(text(fields)) as string[],
  );
