/**
 * Reads what a decision about runs asked for. The size of everything is known before it is read: a reading
 * that only measures brings the sizes, and the texts that are short.
 */
import type { Flow } from "../flow.ts";
import { flight } from "../flow.ts";
import type { Row } from "../row.ts";
import { int, text, textOrNull, word } from "../row.ts";
import type { ItemSeen, Reading, StepKey } from "../runs.ts";
import { AROUND_ITEM, bodySize, itemsSize, keyOfStep, SHORT } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { oneOf, raw, sizeOf, sql } from "../sql.ts";

interface Gathered {
  readonly units: Map<string, string | null>;
  readonly bodies: Map<string, string | null>;
  readonly items: Map<string, ItemSeen[]>;
  readonly sizes: Map<string, number>;
}

export const gathered = (): Gathered => ({
  units: new Map(),
  bodies: new Map(),
  items: new Map(),
  sizes: new Map(),
});

export const gather = (reading: Reading, into: Gathered): Flow<void> =>
  reading.measure ? measure(reading, into) : load(reading, into);

/** A list that is asked for twice is read once. Otherwise its items would appear twice. */
const once = (keys: readonly StepKey[]): StepKey[] => [
  ...new Map(keys.map((key) => [keyOfStep(key), key])).values(),
];

/** A unit or step that was asked for and not found is recorded as missing. */
function* load({ units, bodies, items }: Reading, into: Gathered): Flow<void> {
  const found = yield* flight({
    units: selectResults(units),
    bodies: bodies.map(selectBody),
    items: once(items).map(selectItems),
  });
  for (const unit of units) into.units.set(unit, null);
  for (const { of, body } of found.units) into.units.set(of, body);
  for (const key of bodies) into.bodies.set(keyOfStep(key), null);
  for (const { of, body } of found.bodies) into.bodies.set(of, body);
  for (const key of items) into.items.set(keyOfStep(key), []);
  for (const { of, item } of found.items) into.items.get(of)?.push(item);
}

function* measure({ units, bodies, items }: Reading, into: Gathered): Flow<void> {
  const found = yield* flight({
    units: measureResults(units),
    bodies: bodies.map(measureBody),
    items: once(items).map(measureItems),
  });
  for (const unit of units) into.sizes.set(unit, 0);
  for (const key of bodies) into.sizes.set(bodySize(keyOfStep(key)), 0);
  for (const { of, size } of found.units) into.sizes.set(of, size);
  for (const { of, size } of found.bodies) into.sizes.set(bodySize(of), size);
  for (const { of, size } of found.items) into.sizes.set(itemsSize(of), size);
  const small = <T extends Measured>(list: readonly T[]): T[] => list.filter(({ size }) => size <= SHORT);
  for (const unit of units) if (into.sizes.get(unit) === 0) into.units.set(unit, null);
  for (const { of, body } of small(found.units)) into.units.set(of, body);
  for (const key of bodies.map(keyOfStep))
    if (into.sizes.get(bodySize(key)) === 0) into.bodies.set(key, null);
  for (const { of, body } of small(found.bodies)) into.bodies.set(of, body);
}

interface Measured {
  readonly of: string;
  readonly size: number;
}

interface Body {
  /** A unit, or the key of a step. */
  readonly of: string;
  readonly body: string | null;
}

const selectResults = (units: readonly string[]): Sql<Body> =>
  sql`SELECT id, body FROM sluice_outcome WHERE state = 'succeeded' AND id ${oneOf(units)}`.as((row) => ({
    of: text(row.id),
    body: textOrNull(row.body),
  }));

const selectBody = (key: StepKey): Sql<Body> =>
  sql`SELECT body FROM sluice_step WHERE run = ${key.run} AND name = ${key.step}`.as((row) => ({
    of: keyOfStep(key),
    body: textOrNull(row.body),
  }));

const selectItems = (key: StepKey): Sql<{ readonly of: string; readonly item: ItemSeen }> =>
  sql`SELECT t.item, o.state, o.body FROM sluice_task t JOIN sluice_outcome o ON o.id = t.id WHERE t.run = ${key.run} AND t.step = ${key.step} AND t.item IS NOT NULL ORDER BY t.item`.as(
    (row) => ({ of: keyOfStep(key), item: itemSeen(row) }),
  );

const itemSeen = (row: Row): ItemSeen => ({
  item: int(row.item),
  state: word(row.state),
  body: textOrNull(row.body),
});

const SIZE = sql`COALESCE(${sizeOf("o.body")}, 0)`;
const MEASURED = sql`${SIZE} AS size, CASE WHEN ${SIZE} <= ${raw(String(SHORT))} THEN o.body END AS body`;

const measured = (of: string, row: Row): Body & Measured => ({
  of,
  body: textOrNull(row.body),
  size: int(row.size),
});

const measureResults = (units: readonly string[]): Sql<Body & Measured> =>
  sql`SELECT o.id, ${MEASURED} FROM sluice_outcome o WHERE o.state = 'succeeded' AND o.id ${oneOf(units)}`.as(
    (row) => measured(text(row.id), row),
  );

const measureBody = (key: StepKey): Sql<Body & Measured> =>
  sql`SELECT ${MEASURED} FROM sluice_step o WHERE o.run = ${key.run} AND o.name = ${key.step}`.as((row) =>
    measured(keyOfStep(key), row),
  );

/** Always one row. */
const measureItems = (key: StepKey): Sql<Measured> =>
  sql`SELECT COALESCE(SUM(${SIZE} + ${raw(String(AROUND_ITEM))}), 0) AS size FROM sluice_task t JOIN sluice_outcome o ON o.id = t.id WHERE t.run = ${key.run} AND t.step = ${key.step} AND t.item IS NOT NULL`.as(
    (row) => ({ of: keyOfStep(key), size: int(row.size) }),
  );
