/**
 * PostgreSQL under READ COMMITTED. A flight is one burst (`burst.ts`). The server itself ends a transaction
 * whose client went silent, so a process frozen inside a pass blocks the others for at most a second. A
 * pooler in transaction mode may be in between. It is detected (`pooler.ts`), and then nothing is left on a
 * connection from one transaction to the next.
 */

import pg from "pg";
import type { Hear, Hint } from "../../core/hint.ts";
import { sleep as hostSleep } from "../../env/timers.ts";
import { codeOf } from "../driver-error.ts";
import type { Flight, Flow } from "../flow.ts";
import { CALLER } from "../query/door.ts";
import { AmbiguousCommit, isConnectionLoss, isWorthAnother, pauseMs } from "../retry.ts";
import type { Row } from "../row.ts";
import type { Clocks, Sql } from "../sql.ts";
import type { SqlDatabase } from "../sql-store.ts";
import { Turns } from "../turns.ts";
import type { Prepared, Statement } from "./burst.ts";
import { Burst } from "./burst.ts";
import { callerOf, mustBeInTransaction } from "./caller.ts";
import { gather } from "./gather.ts";
import { migratePostgres, verifyPostgres } from "./migrate.ts";
import { Notices } from "./notices.ts";
import { findPooler } from "./pooler.ts";
import { refusal } from "./refusal.ts";
import { accessOf, BEGIN } from "./settings.ts";

export interface PostgresOptions {
  readonly url: string;
  /** The most connections kept open. */
  readonly connections?: number;
  /**
   * A pooler in transaction mode is in between: no prepared statements, no LISTEN, settings per transaction.
   * If absent, this is detected at the first connection.
   */
  readonly pooler?: boolean;
  /** For tests only: the instant the database takes for now. */
  readonly now?: () => number;
  readonly random?: () => number;
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Evaluated once per statement, not once per row. */
const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
const CLOCK = `(SELECT ${NOW})`;
const CLOCK_OF_TESTS = `(SELECT COALESCE(NULLIF(current_setting('sluice.now', true), '')::bigint, ${NOW}))`;

/**
 * A plan fits the table sizes at the time it is made. A table of a few rows may be long a minute later, and a
 * plan that scans all of it would stay until the next vacuum.
 */
const PLANS_LAST_MS = 2_000;
const NEW_PLANS: Statement = { text: "DISCARD PLANS", values: [], name: "sluice_discard" };
const COMMIT: Statement = { text: "COMMIT", values: [], name: "sluice_commit" };

/** After this many claims, their dead rows are vacuumed. */
const VACUUM_AFTER = 4_000;

/** The prepared statements of a connection, and the age of its plans. */
interface Known {
  readonly prepared: Prepared;
  plannedAt: number;
}

export class PostgresDatabase implements SqlDatabase {
  readonly dialect = "postgres";
  readonly where: string;
  readonly pool: pg.Pool;
  readonly #options: PostgresOptions;
  readonly #notices: Notices;
  readonly #turns: Turns;
  readonly #names = new Map<string, string>();
  readonly #known = new WeakMap<pg.PoolClient, Known>();
  readonly #clocks: Clocks;
  #claims = 0;
  #vacuuming = false;
  /** Undefined until the first connection has shown it. */
  #pooled: boolean | undefined;

  constructor(options: PostgresOptions) {
    this.#options = options;
    this.where = options.url;
    const clock = options.now ? CLOCK_OF_TESTS : CLOCK;
    this.#clocks = { wall: clock, lease: clock };
    this.#pooled = options.pooler;
    const access = accessOf(options.url);
    const { connections = 8 } = options;
    this.#turns = new Turns(connections);
    // The driver accepts our parsers, but its types want parsers for every type and format.
    this.pool = new pg.Pool({
      ...access,
      max: connections,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      types: { getTypeParser },
      ...(options.pooler ? { options: undefined } : {}),
    } as pg.PoolConfig);
    // An idle connection that dies must not end the process.
    this.pool.on("error", () => {});
    const send = (text: string, values: unknown[]) =>
      this.#turns.during(true, () => this.pool.query(text, values));
    this.#notices = new Notices(send, access, () => this.#turns.during(true, () => this.#isPooled()));
  }

  migrate(): Promise<void> {
    return this.#turns.during(true, async () => {
      await this.#isPooled();
      await migratePostgres(this.pool);
    });
  }

  verify(): Promise<void> {
    return this.#turns.during(true, async () => {
      await this.#isPooled();
      await verifyPostgres(this.pool);
    });
  }

  transact<T>(flow: () => Flow<T>, isFirst = false): Promise<T> {
    return this.#again("writing", flow, isFirst);
  }

  read<T>(flow: () => Flow<T>): Promise<T> {
    return this.#again("reading", flow, false);
  }

  ground(): Record<string, string> {
    return { pooler: this.#pooled ? "on" : "off" };
  }

  async #isPooled(): Promise<boolean> {
    this.#pooled ??= await findPooler(this.pool);
    return this.#pooled;
  }

  async within<T>(client: unknown, flow: () => Flow<T>): Promise<T> {
    const caller = callerOf(client);
    await caller.query(CALLER);
    mustBeInTransaction(caller);
    const running = flow();
    let step = running.next();
    while (!step.done) {
      const answers: Row[][] = [];
      for (const statement of step.value.statements) {
        const { text, values } = statement.render("postgres", this.#clocks);
        answers.push((await caller.query({ text, values, types: { getTypeParser } } as pg.QueryConfig)).rows);
      }
      step = running.next(answers);
    }
    return step.value;
  }

  async #again<T>(kind: "writing" | "reading", flow: () => Flow<T>, isFirst: boolean): Promise<T> {
    const { random = Math.random, sleep = hostSleep } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#turns.during(isFirst, () => this.#once(kind, flow()));
      } catch (error) {
        if (!isWorthAnother(error, attempt)) throw error;
        await sleep(pauseMs(attempt, random()));
      }
    }
  }

  async #once<T>(kind: "writing" | "reading", flow: Flow<T>): Promise<T> {
    const pooled = this.#pooled ?? (await this.#isPooled());
    const client = await this.pool.connect();
    const known = this.#knownOf(client);
    const connection = new Connection(client, known.prepared, !pooled, kind === "writing");
    try {
      const begin = BEGIN[pooled ? "pooled" : "ours"][kind];
      const result = await this.#fly(connection, this.#beginWith(begin, known), flow);
      client.release();
      return result;
    } catch (error) {
      // Close the connection, because its state is unknown.
      client.release(true);
      throw refusal(connection.explain(error));
    } finally {
      connection.forget();
    }
  }

  #knownOf(client: pg.PoolClient): Known {
    const known = this.#known.get(client) ?? { prepared: new Map(), plannedAt: performance.now() };
    this.#known.set(client, known);
    return known;
  }

  #beginWith(begin: readonly Statement[], known: Known): readonly Statement[] {
    const { now } = this.#options;
    const opening = [...begin];
    if (now) opening.push({ text: `SET LOCAL sluice.now = '${Math.trunc(now())}'`, values: [] });
    if (!this.#pooled && performance.now() - known.plannedAt > PLANS_LAST_MS) {
      known.plannedAt = performance.now();
      opening.push(NEW_PLANS);
    }
    return opening;
  }

  async #fly<T>(connection: Connection, begin: readonly Statement[], flow: Flow<T>): Promise<T> {
    let step = flow.next();
    let opening = begin;
    let committed = false;
    while (!step.done) {
      const flight: Flight = step.value;
      const { statements, unpack } = gather(flight.statements);
      const rendered = statements.map((each) => this.#render(each));
      const answers = unpack(await connection.send(opening, rendered, flight.last === true));
      opening = [];
      committed = flight.last === true;
      step = flow.next(answers);
    }
    if (!committed && opening.length === 0) await connection.send([], [], true);
    return step.value;
  }

  #render(statement: Sql<unknown>): Statement {
    const rendered = statement.render("postgres", this.#clocks);
    if (this.#pooled) return rendered;
    let name = this.#names.get(rendered.text);
    if (!name) {
      name = `sluice_${this.#names.size}`;
      this.#names.set(rendered.text, name);
    }
    return { text: rendered.text, values: rendered.values, name };
  }

  listen(hear: Hear): Promise<() => Promise<void>> {
    return this.#notices.listen(hear);
  }

  hint(hint: Hint): void {
    this.#notices.tell(hint);
  }

  /**
   * Claims live for milliseconds and leave dead rows. Autovacuum looks once a minute, which is too late here.
   */
  upkeep(claims: number): void {
    this.#claims += claims;
    if (this.#claims < VACUUM_AFTER || this.#vacuuming) return;
    this.#claims = 0;
    this.#vacuuming = true;
    const vacuum = "VACUUM (SKIP_LOCKED, TRUNCATE OFF) sluice_running, sluice_lane, sluice_arrival";
    this.#turns
      .during(false, () => this.pool.query(vacuum))
      .catch(() => {})
      .finally(() => {
        this.#vacuuming = false;
      });
  }

  async close(): Promise<void> {
    if (this.pool.ended || this.pool.ending) return;
    await this.#notices.close();
    await this.#turns.close();
    await this.pool.end();
  }
}

/** A connection while we use it, and whether it died meanwhile. */
class Connection {
  readonly #client: pg.PoolClient;
  readonly #prepared: Prepared;
  /** Prepared statements stay on the connection. */
  readonly #isOurs: boolean;
  /** A read has nothing that could have been committed, so it is simply repeated. */
  readonly #writes: boolean;
  #lost: Error | undefined;
  #committing = false;
  readonly #onError = (error: Error): void => {
    this.#lost ??= error;
  };
  readonly #onEnd = (): void => {
    this.#lost ??= new Error("connection closed");
  };

  constructor(client: pg.PoolClient, prepared: Prepared, isOurs: boolean, writes: boolean) {
    this.#client = client;
    this.#prepared = prepared;
    this.#isOurs = isOurs;
    this.#writes = writes;
    client.on("error", this.#onError);
    client.on("end", this.#onEnd);
  }

  forget(): void {
    this.#client.off("error", this.#onError);
    this.#client.off("end", this.#onEnd);
  }

  /** Returns the answers of the statements between the begin and the commit. */
  send(begin: readonly Statement[], statements: readonly Statement[], commit: boolean): Promise<Row[][]> {
    if (commit) this.#committing = this.#writes;
    const end = commit ? [this.#isOurs ? COMMIT : { ...COMMIT, name: undefined }] : [];
    const all = [...begin, ...statements, ...end];
    return new Promise((resolve, reject) => {
      const done = (error: Error | undefined, answers: Row[][]): void =>
        error ? reject(error) : resolve(answers.slice(begin.length, begin.length + statements.length));
      this.#client.query(new Burst(all, this.#prepared, done));
    });
  }

  explain(error: unknown): unknown {
    const refused = /^[0-9A-Z]{5}$/.test(codeOf(error)) && !isConnectionLoss(error);
    if (refused) return error;
    if (!this.#lost && !isConnectionLoss(error) && !/terminated|not queryable/i.test(String(error)))
      return error;
    if (this.#committing) return new AmbiguousCommit(error);
    return Object.assign(new Error("connection lost", { cause: error }), { code: "CONNECTION_LOST" });
  }
}

const INT8 = 20;

/** The driver's type has an overload for each format, which our function cannot satisfy without a cast. */
const getTypeParser = ((oid: number, format?: "text" | "binary") =>
  oid === INT8 ? Number : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser;
