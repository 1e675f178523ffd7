/**
 * Writes an app's declaration: its limits, the ranks of its queues, and its triggers. The lock of one row
 * puts declarations one after the other. Then the gates are locked in order, as everywhere. An app writes
 * only its own rows in sluice_declared; core combines the rows of all apps, and the result is written to the
 * gates.
 */
import type { AppNames } from "../../core/app/shared-names.ts";
import type { InForce } from "../../core/gate/declared.ts";
import { firstRank, follow, strictest } from "../../core/gate/declared.ts";
import type { Limit, Line } from "../../core/gate/gate.ts";
import { familyOf, kindOf, parseKey } from "../../core/gate/key.ts";
import { undeclared } from "../../core/gate/kind.ts";
import { appsInForce, contentOf, NOBODY, replacedIn, sayingsOf, UNNAMED_APP } from "../declaration.ts";
import { ownOrFamilys } from "../family.ts";
import type { Flow } from "../flow.ts";
import { commit, flight, send } from "../flow.ts";
import type { Row } from "../row.ts";
import { int, intOrNull, only, text, textOrNull } from "../row.ts";
import type { Sql } from "../sql.ts";
import { by, forUpdate, oneOf, rows, sql } from "../sql.ts";
import type { Declaration, Declared, Occasion, Replaced, Saying } from "../store.ts";
import { insertGates, insertQueues } from "./arrival.ts";
import { selectNow } from "./look.ts";
import type { SayingRow } from "./saying.ts";
import { insertSayings, selectSayingsOf } from "./saying.ts";
import { tellGates } from "./tell-others.ts";
import { declareTriggers } from "./triggers.ts";

/** Held by one declaration at a time, and by a verb that deletes a gate. */
export const lockDeclarations = sql`SELECT n FROM sluice_deploy WHERE app = ${NOBODY} AND hash = ''${forUpdate}`;

export function* declare(declaration: Declaration, occasion: Occasion): Flow<Declared> {
  const { app = UNNAMED_APP } = declaration;
  const content = contentOf(declaration);
  yield* send(lockDeclarations);
  const { clock, known, mine } = yield* flight({
    clock: selectNow(),
    known: sql`SELECT hash, n, at, body FROM sluice_deploy WHERE app = ${app} ORDER BY n DESC`.as((row) => ({
      hash: text(row.hash),
      n: int(row.n),
      at: int(row.at),
      body: text(row.body),
    })),
    mine: sql`SELECT gate FROM sluice_declared WHERE app = ${app}`.as(({ gate }) => text(gate)),
  });
  const [current] = known;
  const isCurrent = current?.hash === content.hash;
  if (current && occasion === "start" && !isCurrent && known.some(({ hash }) => hash === content.hash))
    return { inForce: false, at: current.at };
  const at = isCurrent ? current.at : only(clock);
  yield* declareGates(app, sayingsOf(declaration), mine);
  yield* declareTriggers(app, declaration.triggers ?? []);
  const n = isCurrent ? current.n : (current?.n ?? 0) + 1;
  if (!isCurrent || current.body !== content.body) yield* commit(upsertDeploy({ app, n, at, ...content }));
  return { inForce: true, at };
}

export function* replaced(): Flow<Replaced[]> {
  return replacedIn(yield* send(selectDeploys()));
}

export function* apps(): Flow<AppNames[]> {
  return appsInForce(yield* send(selectDeploys()));
}

/** Every declaration ever made by an app with a name. */
export const selectDeploys = (): Sql<Omit<Deploy, "hash">> =>
  sql`SELECT app, n, at, body FROM sluice_deploy WHERE app > ${NOBODY} ORDER BY app, n`.as((row) => ({
    app: text(row.app),
    n: int(row.n),
    at: int(row.at),
    body: text(row.body),
  }));

function* declareGates(
  app: string,
  sayings: ReadonlyMap<string, Saying>,
  before: readonly string[],
): Flow<void> {
  const keys = [...new Set([...sayings.keys(), ...before])].sort();
  if (keys.length === 0) return;
  const queues = keys.filter((key) => kindOf(key) === "queue");
  const families = keys.flatMap((key) => familyOf(key) ?? []);
  const there = yield* send(
    sql`SELECT name, capacity FROM sluice_gate WHERE name ${oneOf([...keys, ...families])}`.as(
      ({ name, capacity }) => [text(name), intOrNull(capacity)] as const,
    ),
  );
  const old = new Map(there);
  yield* send([insertGates(keys.filter((key) => !old.has(key))), insertQueues(queues.map(queueOf))]);
  const locked = yield* send(
    sql`SELECT name, capacity, declared, lease_ms, lease_declared, set_by, set_at FROM sluice_gate WHERE name ${oneOf(keys)} ORDER BY name${forUpdate}`.as(
      gateBefore,
    ),
  );
  const { said, clock } = yield* flight({ said: selectSayingsOf(keys), clock: selectNow() });
  const others = said.filter((each) => each.app !== app && !(each.app === NOBODY && sayings.has(each.gate)));
  const all = (key: string): Saying[] => {
    const own = sayings.get(key);
    return [...others.filter(({ gate }) => gate === key), ...(own ? [own] : [])];
  };
  const time = only(clock);
  const since = new Map(said.filter((each) => each.app === app).map((each) => [each.gate, each]));
  const after = locked.map((gate) => ({
    before: gate,
    // A gate created by this declaration has had its limit from the beginning.
    gate: gateAfter(gate, all(gate.name), old.has(gate.name) ? time : null),
  }));
  const next = new Map([...old, ...after.map(({ gate }) => [gate.name, gate.capacity] as const)]);
  const changes = after.flatMap(({ before: { name, capacity }, gate }) => {
    const from = ownOrFamilys(name, capacity, (family) => old.get(family));
    const to = ownOrFamilys(name, gate.capacity, (family) => next.get(family));
    return declaredChange(app, name, from, to);
  });
  yield* send([
    sql`DELETE FROM sluice_declared WHERE app = ${app} AND gate ${oneOf(keys)}`,
    sql`DELETE FROM sluice_declared WHERE app = ${NOBODY} AND gate ${oneOf([...sayings.keys()])}`,
    insertSayings(app, sayings, (key, saying) => sinceWhen(since.get(key), saying) ?? time),
    writeGates(after.map(({ gate }) => gate)),
    rerank(queues.map((key) => ({ name: queueOf(key), rank: firstRank(all(key).map(({ rank }) => rank)) }))),
    tellGates(changes),
  ]);
}

/** Reports a change only if the limit in force has changed. */
function declaredChange(app: string, name: string, from: Limit, to: Limit) {
  const data = JSON.stringify({ app, from, to });
  return from === to ? [] : [{ subject: name, kind: "LimitDeclared" as const, n: null, data }];
}

const queueOf = (key: string): string => key.slice(parseKey(key).kind.length + 1);

/** If an app declares the same as before, the earlier date stays. */
function sinceWhen(before: SayingRow | undefined, { limit, leaseMs, rank }: Saying): number | undefined {
  const isSame = limit === before?.limit && leaseMs === before.leaseMs && rank === before.rank;
  return isSame ? before.at : undefined;
}

interface GateBefore extends InForce {
  readonly name: string;
  readonly setAt: number | null;
}

const gateBefore = (row: Row): GateBefore => ({
  name: text(row.name),
  capacity: intOrNull(row.capacity),
  declared: intOrNull(row.declared),
  leaseMs: intOrNull(row.lease_ms),
  leaseDeclared: intOrNull(row.lease_declared),
  setBy: textOrNull(row.set_by),
  setAt: intOrNull(row.set_at),
});

interface GateAfter {
  readonly name: string;
  readonly capacity: number | null;
  readonly declared: number | null;
  readonly line: Line;
  readonly lease_ms: number | null;
  readonly lease_declared: number | null;
  readonly set_at: number | null;
}

/** `at` is the time of the change. */
function gateAfter(known: GateBefore, said: readonly Saying[], at: number | null): GateAfter {
  const { name } = known;
  const all = strictest(said, undeclared(name));
  const { capacity, declared, leaseMs, leaseDeclared, dated } = follow(known, all);
  return {
    name,
    capacity,
    declared,
    line: all.line,
    lease_ms: leaseMs,
    lease_declared: leaseDeclared,
    set_at: dated ? at : known.setAt,
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

/** The rows exist and are locked, so the insert only updates. */
const writeGates = (gates: readonly GateAfter[]): Sql =>
  sql`INSERT INTO sluice_gate (name, capacity, declared, line, lease_ms, lease_declared, set_at)
    SELECT g.name, g.capacity, g.declared, g.line, g.lease_ms, g.lease_declared, g.set_at FROM ${rows("g", GATE, gates)} ${overwrite("name", ["capacity", "declared", "line", "lease_ms", "lease_declared", "set_at"])}`;

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
  sql`INSERT INTO sluice_deploy (app, hash, n, at, body) SELECT d.app, d.hash, d.n, d.at, d.body FROM ${rows("d", { app: "text", hash: "text", n: "int", at: "int", body: "text" }, [{ app, hash, n, at, body }])} ${overwrite("app, hash", ["n", "at", "body"])}`;

/** SQLite reads `SELECT … FROM … ON` as a join. A true condition ends the select before ON CONFLICT. */
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
