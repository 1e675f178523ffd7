/** The history: one row per transition, numbered without gaps within its subject (a task, a lane, a gate). */
import { by, now, raw, rows, type Sql, sql } from "../sql.ts";

export interface NewEvent {
  readonly subject: string;
  readonly n: number;
  readonly kind: string;
  readonly data: string | null;
}

export function insertEvents(events: readonly NewEvent[]): Sql {
  const list = rows("e", { subject: "text", n: "int", kind: "text", data: "text" }, events);
  return sql`INSERT INTO sluice_event (subject, n, kind, at, data) SELECT e.subject, e.n, e.kind, ${now}, e.data FROM ${list}`;
}

/** JSON text built from columns: only for values that need no escaping, such as numbers and our own ids. */
export function concat(...parts: readonly (string | { readonly column: string })[]): Sql {
  const terms = parts.map((part) => (typeof part === "string" ? `'${part}'` : part.column));
  return by({
    postgres: raw(terms.join(" || ")),
    sqlite: raw(terms.join(" || ")),
    mysql: raw(`CONCAT(${terms.join(", ")})`),
  });
}

export const selectEvents = (subject: string): Sql =>
  sql`SELECT subject, n, kind, at, data FROM sluice_event WHERE subject = ${subject} ORDER BY n`;
