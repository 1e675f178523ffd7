/**
 * PostgreSQL: a flight is one burst (`burst.ts`), READ COMMITTED. The server itself ends a transaction whose client
 * went silent, so a process frozen inside a pass stops the others for a second at most. No session state is used,
 * so a pooler in transaction mode may stand in between.
 */
import pg from "pg";
import type { Flight, Flow, Row } from "../flow.ts";
import { AmbiguousCommit, ATTEMPTS, isConnectionLoss, isLostRace, pauseMs } from "../retry.ts";
import type { Clocks, Sql } from "../sql.ts";
import type { SqlDatabase } from "../sql-store.ts";
import type { Prepared, Statement } from "./burst.ts";
import { Burst } from "./burst.ts";
import { gather } from "./gather.ts";
import { migratePostgres, verifyPostgres } from "./migrate.ts";
import { Notices } from "./notices.ts";

export interface PostgresOptions {
  readonly url: string;
  /** Connections kept at most. */
  readonly connections?: number;
  /** A pooler in transaction mode stands in between: no prepared statements, no LISTEN, settings per transaction. */
  readonly pooler?: boolean;
  /** For tests only: the instant that the database shall take for now. */
  readonly now?: () => number;
  readonly random?: () => number;
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Asked once per statement, not once per row. */
const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
const CLOCK = `(SELECT ${NOW})`;
const CLOCK_OF_TESTS = `(SELECT COALESCE(NULLIF(current_setting('sluice.now', true), '')::bigint, ${NOW}))`;

/**
 * A holder of locks that goes silent is cut off; whoever waits for it longer than that starts over. The hot tables
 * are full of dead rows before long: always by index. A plan is made for all values, and kept for a while.
 */
export const SETTINGS = {
  idle_in_transaction_session_timeout: "1000",
  lock_timeout: "3000",
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
};
const AT_CONNECT = Object.entries(SETTINGS)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(" ");
const PER_TRANSACTION = Object.entries(SETTINGS).map(([name, value]) =>
  plain(`SET LOCAL ${name} = '${value}'`),
);

/** Said each time: in what a server may have as its default, a pass would count what was held before it had its locks. */
const READ_COMMITTED = "BEGIN ISOLATION LEVEL READ COMMITTED";
const BEGIN: Statement = { text: READ_COMMITTED, values: [], name: "sluice_begin" };
/**
 * A plan is made for tables as long as they were at that moment. One of a few rows may be long a minute later, and a
 * plan that walks through it all would stay until the next vacuum.
 */
const PLANS_LAST_MS = 2_000;
const NEW_PLANS: Statement = { text: "DISCARD PLANS", values: [], name: "sluice_discard" };
const COMMIT: Statement = { text: "COMMIT", values: [], name: "sluice_commit" };
/** At one instant, and free to choose its plan: what people ask is not asked often. */
const READING = [
  plain("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
  plain("SET LOCAL enable_seqscan = on"),
  plain("SET LOCAL plan_cache_mode = force_custom_plan"),
];

function plain(text: string): Statement {
  return { text, values: [] };
}

/** So many claims leave their dead rows before they are cleared away. */
const VACUUM_AFTER = 4_000;

/** What a connection has prepared, and since when it has had its plans. */
interface Known {
  readonly prepared: Prepared;
  plannedAt: number;
}

export class PostgresDatabase implements SqlDatabase {
  readonly dialect = "postgres";
  readonly pool: pg.Pool;
  readonly #options: PostgresOptions;
  readonly #notices: Notices;
  readonly #names = new Map<string, string>();
  readonly #known = new WeakMap<pg.PoolClient, Known>();
  readonly #clocks: Clocks;
  #claims = 0;
  #vacuuming = false;

  constructor(options: PostgresOptions) {
    this.#options = options;
    const clock = options.now ? CLOCK_OF_TESTS : CLOCK;
    this.#clocks = { wall: clock, lease: clock };
    this.pool = new pg.Pool({
      connectionString: options.url,
      max: options.connections ?? 8,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      types: { getTypeParser },
      ...(options.pooler ? {} : { options: AT_CONNECT }),
    } as pg.PoolConfig);
    // An idle connection that dies must not take the process with it.
    this.pool.on("error", () => {});
    this.#notices = new Notices(this.pool, options.url, !options.pooler);
  }

  migrate(): Promise<void> {
    return migratePostgres(this.pool);
  }

  verify(): Promise<void> {
    return verifyPostgres(this.pool);
  }

  transact<T>(flow: () => Flow<T>): Promise<T> {
    return this.#again(this.#options.pooler ? [plain(READ_COMMITTED), ...PER_TRANSACTION] : [BEGIN], flow);
  }

  read<T>(flow: () => Flow<T>): Promise<T> {
    return this.#again(READING, flow);
  }

  async within<T>(client: unknown, flow: () => Flow<T>): Promise<T> {
    const caller = client as pg.ClientBase;
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

  async #again<T>(begin: readonly Statement[], flow: () => Flow<T>): Promise<T> {
    const { random = Math.random, sleep = pause } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#once(begin, flow());
      } catch (error) {
        const again = isLostRace(error) || isConnectionLoss(error);
        if (!again || attempt >= ATTEMPTS) throw error;
        await sleep(pauseMs(attempt, random()));
      }
    }
  }

  async #once<T>(begin: readonly Statement[], flow: Flow<T>): Promise<T> {
    const client = await this.pool.connect();
    const known = this.#knownOf(client);
    const connection = new Connection(client, known.prepared);
    try {
      const result = await this.#fly(connection, this.#beginWith(begin, known), flow);
      client.release();
      return result;
    } catch (error) {
      // Let go of the connection altogether: what state it is in is not worth a guess.
      client.release(true);
      throw connection.explain(error);
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
    const { now, pooler } = this.#options;
    const opening = [...begin];
    if (now) opening.push(plain(`SET LOCAL sluice.now = '${Math.trunc(now())}'`));
    if (!pooler && performance.now() - known.plannedAt > PLANS_LAST_MS) {
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

  #render(statement: Sql): Statement {
    const rendered = statement.render("postgres", this.#clocks);
    if (this.#options.pooler) return rendered;
    let name = this.#names.get(rendered.text);
    if (!name) {
      name = `sluice_${this.#names.size}`;
      this.#names.set(rendered.text, name);
    }
    return { text: rendered.text, values: rendered.values, name };
  }

  listen(hear: (hint: string) => void): Promise<() => Promise<void>> {
    return this.#notices.listen(hear);
  }

  hint(hint: string): void {
    this.#notices.tell(hint);
  }

  /** Claims live for milliseconds and leave dead rows; autovacuum looks once a minute, which is too late here. */
  upkeep(claims: number): void {
    this.#claims += claims;
    if (this.#claims < VACUUM_AFTER || this.#vacuuming) return;
    this.#claims = 0;
    this.#vacuuming = true;
    this.pool
      .query("VACUUM (SKIP_LOCKED, TRUNCATE OFF) sluice_running, sluice_lane, sluice_arrival")
      .catch(() => {})
      .finally(() => {
        this.#vacuuming = false;
      });
  }

  async close(): Promise<void> {
    if (this.pool.ended || this.pool.ending) return;
    await this.#notices.close();
    await this.pool.end();
  }
}

/** One connection while it is in our hands, and whether it died there. */
class Connection {
  readonly #client: pg.PoolClient;
  readonly #prepared: Prepared;
  #lost: Error | undefined;
  #committing = false;
  readonly #onError = (error: Error): void => {
    this.#lost ??= error;
  };
  readonly #onEnd = (): void => {
    this.#lost ??= new Error("connection closed");
  };

  constructor(client: pg.PoolClient, prepared: Prepared) {
    this.#client = client;
    this.#prepared = prepared;
    client.on("error", this.#onError);
    client.on("end", this.#onEnd);
  }

  forget(): void {
    this.#client.off("error", this.#onError);
    this.#client.off("end", this.#onEnd);
  }

  /** The answers of the statements between the begin and the commit. */
  send(begin: readonly Statement[], statements: readonly Statement[], commit: boolean): Promise<Row[][]> {
    if (commit) this.#committing = true;
    const all = [...begin, ...statements, ...(commit ? [COMMIT] : [])];
    return new Promise((resolve, reject) => {
      const done = (error: Error | undefined, answers: Row[][]): void =>
        error ? reject(error) : resolve(answers.slice(begin.length, begin.length + statements.length));
      this.#client.query(new Burst(all, this.#prepared, done));
    });
  }

  explain(error: unknown): unknown {
    const code = (error as { code?: string }).code;
    const refused = code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !isConnectionLoss(error);
    if (refused) return error;
    if (!this.#lost && !isConnectionLoss(error) && !/terminated|not queryable/i.test(String(error)))
      return error;
    if (this.#committing) return new AmbiguousCommit(error);
    return Object.assign(new Error("connection lost", { cause: error }), { code: "CONNECTION_LOST" });
  }
}

const INT8 = 20;

const getTypeParser = ((oid: number, format?: "text" | "binary") =>
  oid === INT8 ? Number : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
