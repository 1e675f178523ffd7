/**
 * SQL as a template that is written once and rendered for each dialect. Plain values become parameters. The
 * few things in which the dialects differ are named fragments (`oneOf`, `rows`, `now`, …). Nothing here knows
 * a table.
 */
import type { Decoder } from "./row.ts";

export type Dialect = "sqlite" | "postgres" | "mysql";

export type Value = string | number | null | boolean;

export interface Rendered {
  readonly text: string;
  readonly values: unknown[];
}

class Writer {
  text = "";
  readonly values: unknown[] = [];
  readonly dialect: Dialect;
  readonly clock: Clocks;

  constructor(dialect: Dialect, clock: Clocks) {
    this.dialect = dialect;
    this.clock = clock;
  }

  value(value: unknown): void {
    this.values.push(typeof value === "boolean" && this.dialect !== "postgres" ? Number(value) : value);
    this.text += this.dialect === "postgres" ? `$${this.values.length}` : "?";
  }
}

/** The two clocks: SQL for the database's own clock, or values if the database runs in this process. */
export interface Clocks {
  readonly wall: string | number;
  readonly lease: string | number;
}

/** A statement, or a part of one. `T` is the type of its decoded rows. Without a decoder it returns no rows. */
export class Sql<T = never> {
  readonly write: (writer: Writer) => void;
  readonly decode: Decoder<T> | undefined;
  /** A read that takes no lock, marked as such by its author. It may be sent together with its neighbours. */
  readonly isPlainRead: boolean;

  constructor(write: (writer: Writer) => void, decode?: Decoder<T>, isPlainRead = false) {
    this.write = write;
    this.decode = decode;
    this.isPlainRead = isPlainRead;
  }

  /** The same statement with a decoder for its rows. */
  as<R>(decode: Decoder<R>): Sql<R> {
    return new Sql(this.write, decode, this.isPlainRead);
  }

  render(dialect: Dialect, clock: Clocks): Rendered {
    const writer = new Writer(dialect, clock);
    this.write(writer);
    return writer;
  }
}

export function sql(strings: TemplateStringsArray, ...parts: readonly unknown[]): Sql {
  return new Sql((writer) => {
    strings.forEach((text, index) => {
      writer.text += text;
      if (index >= parts.length) return;
      const part = parts[index];
      if (part instanceof Sql) part.write(writer);
      else writer.value(part);
    });
  });
}

/** Marks a read that takes no lock. */
export const read = <T>(statement: Sql<T>): Sql<T> => new Sql(statement.write, statement.decode, true);

/** Verbatim text: table and column names that we write, never data. */
export const raw = (text: string): Sql =>
  new Sql((writer) => {
    writer.text += text;
  });

/** A different text per dialect. */
export const by = (variants: Readonly<Record<Dialect, Sql | string>>): Sql =>
  new Sql((writer) => {
    const chosen = variants[writer.dialect];
    if (chosen instanceof Sql) chosen.write(writer);
    else writer.text += chosen;
  });

/**
 * A condition that is true of every key. With it, PostgreSQL reads a whole table through the index of its
 * key, and an index scan skips the dead rows that the pages keep. Our settings allow only index scans, and
 * this condition makes one possible. Without it, the planner's penalty (1e10 before version 18) outweighs
 * every other choice in the plan and starts the JIT compiler.
 */
export const throughKey = (key: string): Sql =>
  by({ postgres: `${key} >= ''`, sqlite: "1 = 1", mysql: "1 = 1" });

const instant = (pick: keyof Clocks): Sql =>
  new Sql((writer) => {
    const clock = writer.clock[pick];
    if (typeof clock === "number") writer.value(clock);
    else writer.text += clock;
  });

/** Wall time in milliseconds, for enqueue times, run-at and deadlines. */
export const now = instant("wall");
/** The clock of leases. It cannot be set back, and is only compared with itself. */
export const leaseNow = instant("lease");

/** The size of a text in bytes. It is known without reading the text from where long texts are kept. */
export const sizeOf = (column: string): Sql =>
  by({
    postgres: `octet_length(${column})`,
    sqlite: `length(CAST(${column} AS BLOB))`,
    mysql: `LENGTH(${column})`,
  });

/** A list as a PostgreSQL array. It equals the JSON text unless that contains a backslash. */
function arrayText(list: readonly (Value | undefined)[]): string {
  const json = JSON.stringify(list);
  return json.includes("\\") ? escapedArray(list) : `{${json.slice(1, -1)}}`;
}

function escapedArray(list: readonly (Value | undefined)[]): string {
  const items = list.map((item) =>
    item === null || item === undefined
      ? "NULL"
      : typeof item === "string"
        ? `"${item.replace(/["\\]/g, "\\$&")}"`
        : String(item),
  );
  return `{${items.join(",")}}`;
}

/**
 * `column ${oneOf(list)}`: equals any member of the list. The list is one parameter on PostgreSQL and SQLite.
 */
export const oneOf = (list: readonly (string | number)[]): Sql =>
  new Sql((writer) => {
    if (writer.dialect === "postgres" && list.length === 0) {
      // Has no type of its own, so it fits any column.
      writer.text += "= ANY('{}')";
    } else if (writer.dialect === "postgres") {
      writer.text += "= ANY(";
      writer.value(arrayText(list));
      writer.text += typeof list[0] === "number" ? "::bigint[])" : "::text[])";
    } else if (writer.dialect === "sqlite") {
      writer.text += "IN (SELECT value FROM json_each(";
      writer.value(JSON.stringify(list));
      writer.text += "))";
    } else if (list.length === 0) writer.text += "IN (NULL)";
    else {
      writer.text += "IN (";
      list.forEach((item, index) => {
        if (index > 0) writer.text += ",";
        writer.value(item);
      });
      writer.text += ")";
    }
  });

/** `column ${noneOf(list)}`. */
export const noneOf = (list: readonly string[]): Sql =>
  new Sql((writer) => {
    if (writer.dialect === "postgres") {
      writer.text += "<> ALL(";
      writer.value(arrayText(list));
      writer.text += "::text[])";
    } else if (list.length === 0) writer.text += "IS NOT NULL";
    else {
      writer.text += "NOT ";
      oneOf(list).write(writer);
    }
  });

export type ColumnType = "text" | "int" | "bool";

const PG_TYPE: Readonly<Record<ColumnType, string>> = { text: "text[]", int: "bigint[]", bool: "boolean[]" };

/**
 * `FROM ${rows("f", { id: "text" }, list)}`: a list of records as a table. An empty list is an empty table.
 */
export function rows<C extends Record<string, ColumnType>>(
  alias: string,
  columns: C,
  list: readonly Readonly<Record<keyof C, Value>>[],
): Sql {
  const typed = Object.entries(columns);
  const names = typed.map(([name]) => name);
  return new Sql((writer) => {
    if (writer.dialect === "postgres") {
      writer.text += "unnest(";
      typed.forEach(([name, type], index) => {
        if (index > 0) writer.text += ", ";
        writer.value(arrayText(list.map((record) => record[name] ?? null)));
        writer.text += `::${PG_TYPE[type]}`;
      });
      writer.text += `) AS ${alias}(${names.join(", ")})`;
    } else if (writer.dialect === "sqlite") {
      const picks = names.map((name, index) => `value ->> ${index} AS ${name}`).join(", ");
      writer.text += `(SELECT ${picks} FROM json_each(`;
      writer.value(JSON.stringify(list.map((record) => names.map((name) => record[name] ?? null))));
      writer.text += `)) AS ${alias}`;
    } else writeUnion(writer, alias, names, list);
  });
}

function writeUnion(
  writer: Writer,
  alias: string,
  names: readonly string[],
  list: readonly Readonly<Record<string, Value>>[],
): void {
  writer.text += "(";
  if (list.length === 0) writer.text += `SELECT ${names.map((name) => `NULL AS ${name}`).join(", ")} LIMIT 0`;
  list.forEach((record, row) => {
    writer.text += row === 0 ? "SELECT " : " UNION ALL SELECT ";
    names.forEach((name, index) => {
      if (index > 0) writer.text += ", ";
      writer.value(record[name] ?? null);
      if (row === 0) writer.text += ` AS ${name}`;
    });
  });
  writer.text += `) AS ${alias}`;
}

/**
 * Runs a small query once per record and joins the results: a lateral join on PostgreSQL, a union elsewhere.
 * `of(name)` stands for the record's column inside the query. An empty list gives no rows.
 */
export function each<C extends Record<string, ColumnType>>(
  columns: C,
  list: readonly Readonly<Record<keyof C, Value>>[],
  query: (of: (column: keyof C & string) => Sql) => Sql,
): Sql {
  return new Sql((writer) => {
    if (writer.dialect === "postgres") {
      writer.text += "SELECT x.* FROM ";
      rows("i", columns, list).write(writer);
      writer.text += ", LATERAL (";
      query((column) => raw(`i.${column}`)).write(writer);
      writer.text += ") AS x";
    } else if (list.length === 0) writer.text += "SELECT 1 AS id LIMIT 0";
    else {
      list.forEach((record, index) => {
        writer.text += index === 0 ? "SELECT * FROM (" : " UNION ALL SELECT * FROM (";
        query((column) => new Sql((inner) => inner.value(record[column]))).write(writer);
        writer.text += `) AS x${index}`;
      });
    }
  });
}

/** Row locks. SQLite needs none: a transaction has its write lock. */
export const forUpdate = by({ postgres: " FOR UPDATE", mysql: " FOR UPDATE", sqlite: "" });
export const forUpdateSkipLocked = by({
  postgres: " FOR UPDATE SKIP LOCKED",
  mysql: " FOR UPDATE SKIP LOCKED",
  sqlite: "",
});
export const forShare = by({ postgres: " FOR SHARE", mysql: " LOCK IN SHARE MODE", sqlite: "" });
/** Keys of gates never change, so foreign-key checks need not wait for this lock. */
export const forNoKeyUpdate = by({ postgres: " FOR NO KEY UPDATE", mysql: " FOR UPDATE", sqlite: "" });
