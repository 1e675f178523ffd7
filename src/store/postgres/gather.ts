/**
 * Sends neighbouring reads of a flight as one statement that returns JSON. Each statement costs both sides a
 * message, a wake-up and a row description, which for the small reads of a pass is more than the reading
 * itself. Writes and locking reads stay separate and in their place.
 */
import type { Row } from "../row.ts";
import type { Sql } from "../sql.ts";
import { raw, sql } from "../sql.ts";

interface Gathered {
  readonly statements: readonly Sql<unknown>[];
  /** Turns the answers of the sent statements into the answers of the statements asked for. */
  unpack(answers: readonly Row[][]): Row[][];
}

export function gather(asked: readonly Sql<unknown>[]): Gathered {
  const groups: [Sql<unknown>, ...Sql<unknown>[]][] = [];
  for (const statement of asked) {
    const last = groups.at(-1);
    if (last?.every((each) => each.isPlainRead) && statement.isPlainRead) last.push(statement);
    else groups.push([statement]);
  }
  return {
    statements: groups.map((group) => (group.length === 1 ? group[0] : together(group))),
    unpack: (answers) =>
      answers.flatMap((rows, index) => (groups[index]?.length === 1 ? [rows] : apart(rows))),
  };
}

function together(group: readonly Sql<unknown>[]): Sql {
  const parts = group.map((statement, index) => {
    const name = raw(`q${index}`);
    return sql`(SELECT COALESCE(json_agg(${name}), '[]') FROM (${statement}) AS ${name}) AS ${name}`;
  });
  return sql`SELECT ${parts.reduce((left, right) => sql`${left}, ${right}`)}`;
}

/** Each column of the single row is a list of rows, built by the server. */
const apart = (rows: readonly Row[]): Row[][] => Object.values(rows[0] ?? {}) as Row[][];
