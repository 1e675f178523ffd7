/**
 * A flight on the wire: each statement is prepared once per connection, and all of them are sent in one write
 * and answered under one Sync. The driver's own way costs a Sync, a description and a wake-up of both sides
 * for each statement. For the small statements of a pass, that is more than running them.
 *
 * After an error, the server skips the rest of the flight, including the commit.
 */
import type pg from "pg";
import type { Row } from "../row.ts";
import { Packet } from "./packet.ts";

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** The name it stays prepared under. Without a name it is prepared each time. */
  readonly name?: string | undefined;
}

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** The statements that a connection has prepared, with the columns each of them returns. */
export type Prepared = Map<string, readonly Column[]>;

/** The part of the driver's connection that a flight is written to. */
interface Wire {
  readonly stream: { readonly writable: boolean; write(bytes: Buffer): boolean };
}

type Field = { readonly name: string; readonly dataTypeID: number };

export class Burst implements pg.Submittable {
  readonly #statements: readonly Statement[];
  readonly #prepared: Prepared;
  readonly #answers: Row[][] = [];
  readonly #done: (error: Error | undefined, answers: Row[][]) => void;
  #rows: Row[] = [];
  #columns: readonly Column[] | undefined;

  constructor(
    statements: readonly Statement[],
    prepared: Prepared,
    done: (error: Error | undefined, answers: Row[][]) => void,
  ) {
    this.#statements = statements;
    this.#prepared = prepared;
    this.#done = done;
  }

  submit(connection: pg.Connection): void {
    const packet = new Packet();
    // A statement may occur more than once in a flight.
    const sent = new Set<string>();
    for (const { text, values, name = "" } of this.#statements) {
      const known = this.#prepared.has(name) || sent.has(name);
      if (!known) packet.parse(name, text);
      packet.bind(name, values.map(asText));
      if (!known) packet.describe();
      packet.execute();
      if (name) sent.add(name);
    }
    packet.sync();
    // The driver has this stream, but its types do not declare it.
    const { stream } = connection as unknown as Wire;
    if (stream.writable) stream.write(packet.bytes());
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }));
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    this.#columns ??= this.#known();
    const row: Record<string, unknown> = {};
    for (let index = 0; index < fields.length; index += 1) {
      const column = this.#columns[index];
      const text = fields[index];
      if (column) row[column.name] = text === null || text === undefined ? null : column.parse(text);
    }
    this.#rows.push(row);
  }

  handleCommandComplete(): void {
    const name = this.#statements[this.#answers.length]?.name;
    if (name && !this.#prepared.has(name)) this.#prepared.set(name, this.#columns ?? []);
    this.#answers.push(this.#rows);
    this.#rows = [];
    this.#columns = undefined;
  }

  handleError(error: Error): void {
    this.#done(error, []);
  }

  handleReadyForQuery(): void {
    this.#done(undefined, this.#answers);
  }

  #known(): readonly Column[] {
    return this.#prepared.get(this.#statements[this.#answers.length]?.name ?? "") ?? [];
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}

/** The wire carries text. Lists are rendered before they get here. */
const asText = (value: unknown): string | null =>
  value === null || value === undefined ? null : String(value);

const INT2 = 21;
const INT4 = 23;
const INT8 = 20;
const JSON_TYPE = 114;

const asIs = (text: string): string => text;

/** Of the types that our statements return, only these are not text. */
function parserOf(type: number): (text: string) => unknown {
  if (type === INT8 || type === INT4 || type === INT2) return Number;
  if (type === JSON_TYPE) return JSON.parse;
  return asIs;
}
