/** The declarations of apps for gates: the rows of sluice_declared. */
import { lineFrom } from "../../core/gate/gate.ts";
import type { Row } from "../row.ts";
import { int, intOrNull, text } from "../row.ts";
import type { Sql } from "../sql.ts";
import { oneOf, raw, rows, sql } from "../sql.ts";
import type { AppSaying, Saying } from "../store.ts";

/** One app's declaration for a gate, as stored. */
export interface SayingRow extends Saying {
  readonly app: string;
  readonly at: number;
}

export interface SayingOfGate extends SayingRow {
  readonly gate: string;
}

export const sayingRow = (row: Row): SayingRow => ({
  app: text(row.app),
  limit: intOrNull(row.capacity),
  line: lineFrom(text(row.line)),
  leaseMs: intOrNull(row.lease_ms),
  rank: intOrNull(row.queue_rank),
  at: int(row.at),
});

export const appSaying = ({ app, limit, leaseMs, rank, at }: SayingRow): AppSaying => ({
  app,
  limit,
  leaseMs,
  rank,
  at,
});

const sayingOfGate = (row: Row): SayingOfGate => ({ gate: text(row.gate), ...sayingRow(row) });

const COLUMNS = raw("gate, app, capacity, line, lease_ms, queue_rank, at");

export const selectSayings = (): Sql<SayingOfGate> =>
  sql`SELECT ${COLUMNS} FROM sluice_declared ORDER BY gate, app`.as(sayingOfGate);

export const selectSayingsOf = (gates: readonly string[]): Sql<SayingOfGate> =>
  sql`SELECT ${COLUMNS} FROM sluice_declared WHERE gate ${oneOf(gates)} ORDER BY gate, app`.as(sayingOfGate);

const SAYING = {
  gate: "text",
  capacity: "int",
  line: "text",
  lease_ms: "int",
  queue_rank: "int",
  at: "int",
} as const;

export function insertSayings(
  app: string,
  sayings: ReadonlyMap<string, Saying>,
  at: (key: string, saying: Saying) => number,
): Sql {
  const list = [...sayings].map(([gate, saying]) => ({
    gate,
    capacity: saying.limit,
    line: saying.line,
    lease_ms: saying.leaseMs,
    queue_rank: saying.rank,
    at: at(gate, saying),
  }));
  return sql`INSERT INTO sluice_declared (gate, app, capacity, line, lease_ms, queue_rank, at)
    SELECT s.gate, ${app}, s.capacity, s.line, s.lease_ms, s.queue_rank, s.at FROM ${rows("s", SAYING, list)}`;
}
