/**
 * What an app declares: its limits, the ranks of its queues, what starts its runs. Declarations come one after the other,
 * by the lock of one row; then the gates are locked in their order, as everywhere. An app writes only its own rows in
 * sluice_declared; what all of them come to is decided by core and written to the gates.
 */
import type { InForce } from "../../core/gate/declared.ts";
import { firstRank, follow, strictest } from "../../core/gate/declared.ts";
import type { Line } from "../../core/gate/gate.ts";
import { lineFrom } from "../../core/gate/gate.ts";
import { kindOf, parseKey } from "../../core/gate/key.ts";
import { undeclared } from "../../core/gate/kind.ts";
import { contentOf, NOBODY, replacedIn, sayingsOf, UNNAMED_APP } from "../declaration.ts";
import type { Flow, Row } from "../flow.ts";
import { flight, lastFlight } from "../flow.ts";
import type { Sql } from "../sql.ts";
import { by, forUpdate, oneOf, rows, sql } from "../sql.ts";
import type { AppSaying, Declaration, Declared, Occasion, Replaced, Saying } from "../store.ts";
import { insertGates, insertQueues } from "./arrival.ts";
import { selectNow } from "./look.ts";
import { tellGates } from "./tell-others.ts";
import { declareTriggers } from "./triggers.ts";

/** Held by one declaration at a time, and by whoever takes a gate out of the store. */
export const lockDeclarations = sql`SELECT n FROM sluice_deploy WHERE app = ${NOBODY} AND hash = ''${forUpdate}`;

export function* declare(declaration: Declaration, occasion: Occasion): Flow<Declared> {
  const { app = UNNAMED_APP } = declaration;
  const content = contentOf(declaration);
  yield* flight(lockDeclarations);
  const [clock = [], known = [], mine = []] = yield* flight(
    selectNow(),
    sql`SELECT hash, n, at FROM sluice_deploy WHERE app = ${app} ORDER BY n DESC`,
    sql`SELECT gate FROM sluice_declared WHERE app = ${app}`,
  );
  const [current] = known;
  const isCurrent = current?.hash === content.hash;
  if (occasion === "start" && !isCurrent && known.some(({ hash }) => hash === content.hash))
    return { inForce: false, at: Number(current?.at) };
  const at = isCurrent ? Number(current.at) : Number(clock[0]?.now);
  const sayings = sayingsOf(declaration);
  yield* declareGates(
    app,
    sayings,
    mine.map((row) => row.gate as string),
  );
  yield* declareTriggers(app, declaration.triggers ?? []);
  const n = Number(current?.n ?? 0) + 1;
  if (!isCurrent) yield* lastFlight(upsertDeploy({ app, n, at, ...content }));
  return { inForce: true, at };
}

export function* replaced(): Flow<Replaced[]> {
  const [found = []] = yield* flight(
    sql`SELECT app, n, at, body FROM sluice_deploy WHERE app > ${NOBODY} ORDER BY app, n`,
  );
  return replacedIn(
    found.map((row) => ({
      app: row.app as string,
      n: Number(row.n),
      at: Number(row.at),
      body: row.body as string,
    })),
  );
}

function* declareGates(
  app: string,
  sayings: ReadonlyMap<string, Saying>,
  before: readonly string[],
): Flow<void> {
  const keys = [...new Set([...sayings.keys(), ...before])].sort();
  if (keys.length === 0) return;
  const queues = keys.filter((key) => kindOf(key) === "queue");
  const [there = []] = yield* flight(sql`SELECT name FROM sluice_gate WHERE name ${oneOf(keys)}`);
  const old = new Set(there.map((row) => row.name));
  yield* flight(insertGates(keys.filter((key) => !old.has(key))), insertQueues(queues.map(queueOf)));
  const [locked = []] = yield* flight(
    sql`SELECT name, capacity, declared, lease_ms, lease_declared, set_by, set_at FROM sluice_gate WHERE name ${oneOf(keys)} ORDER BY name${forUpdate}`,
  );
  const [said = [], clock = []] = yield* flight(
    sql`SELECT gate, app, capacity, line, lease_ms, queue_rank, at FROM sluice_declared WHERE gate ${oneOf(keys)} ORDER BY gate, app`,
    selectNow(),
  );
  const others = said.filter(
    (row) => row.app !== app && !(row.app === NOBODY && sayings.has(row.gate as string)),
  );
  const all = (key: string): Saying[] => {
    const own = sayings.get(key);
    return [...others.filter(({ gate }) => gate === key).map(sayingOf), ...(own ? [own] : [])];
  };
  const time = Number(clock[0]?.now);
  const since = new Map(said.filter((row) => row.app === app).map((row) => [row.gate, row]));
  // A gate that is born with a declaration has had its limit from the beginning.
  const after = locked.map((row) => gateAfter(row, all(row.name as string), old.has(row.name) ? time : null));
  yield* flight(
    sql`DELETE FROM sluice_declared WHERE app = ${app} AND gate ${oneOf(keys)}`,
    sql`DELETE FROM sluice_declared WHERE app = ${NOBODY} AND gate ${oneOf([...sayings.keys()])}`,
    insertSayings(app, sayings, (key, saying) => sinceWhen(since.get(key), saying) ?? time),
    writeGates(after),
    rerank(queues.map((key) => ({ name: queueOf(key), rank: firstRank(all(key).map(({ rank }) => rank)) }))),
    ...tellGates(after.flatMap((gate, index) => declaredChange(app, locked[index]?.capacity, gate))),
  );
}

/** Only where the limit in force is another one now. */
function declaredChange(app: string, before: unknown, { name, capacity }: GateAfter) {
  const from = number(before);
  const data = JSON.stringify({ app, from, to: capacity });
  return from === capacity ? [] : [{ subject: name, kind: "LimitDeclared", n: null, data }];
}

const queueOf = (key: string): string => key.slice(parseKey(key).kind.length + 1);

const number = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(value);

export const sayingOf = (row: Row): Saying => ({
  limit: number(row.capacity),
  line: lineFrom(row.line as string),
  leaseMs: number(row.lease_ms),
  rank: number(row.queue_rank),
});

export const appSaying = (row: Row): AppSaying => {
  const { line: _, ...saying } = sayingOf(row);
  return { app: row.app as string, ...saying, at: Number(row.at) };
};

export const selectSayings = (): Sql =>
  sql`SELECT gate, app, capacity, line, lease_ms, queue_rank, at FROM sluice_declared ORDER BY gate, app`;

/** An app that says the same as before has said so since then. */
function sinceWhen(row: Row | undefined, saying: Saying): number | undefined {
  if (!row) return undefined;
  const { limit, leaseMs, rank } = sayingOf(row);
  const isSame = limit === saying.limit && leaseMs === saying.leaseMs && rank === saying.rank;
  return isSame ? Number(row.at) : undefined;
}

interface GateAfter {
  readonly name: string;
  readonly capacity: number | null;
  readonly declared: number | null;
  readonly line: Line;
  readonly lease_ms: number | null;
  readonly lease_declared: number | null;
  readonly set_at: number | null;
}

/** `at` is when it changes. */
function gateAfter(row: Row, said: readonly Saying[], at: number | null): GateAfter {
  const known: InForce = {
    capacity: number(row.capacity),
    declared: number(row.declared),
    leaseMs: number(row.lease_ms),
    leaseDeclared: number(row.lease_declared),
    setBy: row.set_by as string | null,
  };
  const name = row.name as string;
  const all = strictest(said, undeclared(name));
  const { capacity, declared, leaseMs, leaseDeclared, dated } = follow(known, all);
  return {
    name,
    capacity,
    declared,
    line: all.line,
    lease_ms: leaseMs,
    lease_declared: leaseDeclared,
    set_at: dated ? at : number(row.set_at),
  };
}

const GATE = {
  name: "text",
  capacity: "int",
  declared: "int",
  line: "text",
  lease_ms: "int",
  lease_declared: "int",
  set_at: "int",
} as const;

/** The rows are there and ours: the insert only ever updates. */
const writeGates = (gates: readonly GateAfter[]): Sql =>
  sql`INSERT INTO sluice_gate (name, capacity, declared, line, lease_ms, lease_declared, set_at)
    SELECT g.name, g.capacity, g.declared, g.line, g.lease_ms, g.lease_declared, g.set_at FROM ${rows("g", GATE, gates)} ${overwrite("name", ["capacity", "declared", "line", "lease_ms", "lease_declared", "set_at"])}`;

const SAYING = {
  gate: "text",
  capacity: "int",
  line: "text",
  lease_ms: "int",
  queue_rank: "int",
  at: "int",
} as const;

function insertSayings(
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

const UNRANKED = 100;

function rerank(queues: readonly { readonly name: string; readonly rank: number | null }[]): Sql {
  const list = queues.map(({ name, rank }) => ({ name, queue_rank: rank ?? UNRANKED }));
  return sql`INSERT INTO sluice_queue (name, queue_rank) SELECT q.name, q.queue_rank FROM ${rows("q", { name: "text", queue_rank: "int" }, list)} ${overwrite("name", ["queue_rank"])}`;
}

interface Deploy {
  readonly app: string;
  readonly hash: string;
  readonly n: number;
  readonly at: number;
  readonly body: string;
}

const upsertDeploy = ({ app, hash, n, at, body }: Deploy): Sql =>
  sql`INSERT INTO sluice_deploy (app, hash, n, at, body) SELECT d.app, d.hash, d.n, d.at, d.body FROM ${rows("d", { app: "text", hash: "text", n: "int", at: "int", body: "text" }, [{ app, hash, n, at, body }])} ${overwrite("app, hash", ["n", "at"])}`;

/** SQLite reads `SELECT … FROM … ON` as a join; a true condition ends the select before ON CONFLICT. */
function overwrite(key: string, columns: readonly string[]): Sql {
  const all = (fresh: (column: string) => string): string =>
    columns.map((column) => `${column} = ${fresh(column)}`).join(", ");
  const onConflict = `ON CONFLICT (${key}) DO UPDATE SET ${all((column) => `excluded.${column}`)}`;
  return by({
    postgres: onConflict,
    sqlite: `WHERE true ${onConflict}`,
    mysql: `ON DUPLICATE KEY UPDATE ${all((column) => `VALUES(${column})`)}`,
  });
}
