/**
 * PostgreSQL: a flight is one pipelined burst, READ COMMITTED. The server itself ends a transaction whose client
 * went silent, so a process frozen inside a pass stops the others for a second at most. No session state is used,
 * so a pooler in transaction mode may stand in between.
 */
import type { Duplex } from "node:stream";
import pg from "pg";
import type { Flight, Flow, Row } from "../flow.ts";
import { AmbiguousCommit, ATTEMPTS, isConnectionLoss, isLostRace, pauseMs } from "../retry.ts";
import type { Clocks, Rendered, Sql } from "../sql.ts";
import type { SqlDatabase } from "../sql-store.ts";
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

const CLOCK =
  "(SELECT COALESCE(NULLIF(current_setting('sluice.now', true), '')::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint))";
const CLOCKS: Clocks = { wall: CLOCK, lease: CLOCK };

/**
 * A holder of locks that goes silent is cut off; whoever waits for it longer than that starts over. The hot tables
 * are small or empty when plans are made and large or full of dead rows when they run: always by index, planned once.
 */
const SETTINGS = {
  idle_in_transaction_session_timeout: "1000",
  lock_timeout: "3000",
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
};
const AT_CONNECT = Object.entries(SETTINGS)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(" ");
const PER_TRANSACTION = Object.entries(SETTINGS)
  .map(([name, value]) => `SET LOCAL ${name} = '${value}'`)
  .join("; ");

/** So many claims leave their dead rows before they are cleared away. */
const VACUUM_AFTER = 4_000;

export class PostgresDatabase implements SqlDatabase {
  readonly dialect = "postgres";
  readonly pool: pg.Pool;
  readonly #options: PostgresOptions;
  readonly #notices: Notices;
  readonly #names = new Map<string, string>();
  #claims = 0;
  #vacuuming = false;

  constructor(options: PostgresOptions) {
    this.#options = options;
    this.pool = new pg.Pool({
      connectionString: options.url,
      max: options.connections ?? 8,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      types: { getTypeParser },
      pipeline: true,
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
    return this.#again(this.#options.pooler ? `BEGIN; ${PER_TRANSACTION}` : "BEGIN", flow);
  }

  read<T>(flow: () => Flow<T>): Promise<T> {
    return this.#again(
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL enable_seqscan = on",
      flow,
    );
  }

  async within<T>(client: unknown, flow: () => Flow<T>): Promise<T> {
    const caller = client as pg.ClientBase;
    const running = flow();
    let step = running.next();
    while (!step.done) {
      const answers: Row[][] = [];
      for (const statement of step.value.statements) {
        const { text, values } = statement.render("postgres", CLOCKS);
        answers.push((await caller.query({ text, values, types: { getTypeParser } } as pg.QueryConfig)).rows);
      }
      step = running.next(answers);
    }
    return step.value;
  }

  async #again<T>(begin: string, flow: () => Flow<T>): Promise<T> {
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

  async #once<T>(begin: string, flow: Flow<T>): Promise<T> {
    const client = await this.pool.connect();
    const connection = new Connection(client);
    try {
      const result = await this.#fly(connection, this.#beginWith(begin), flow);
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

  #beginWith(begin: string): string {
    const { now } = this.#options;
    return now ? `${begin}; SET LOCAL sluice.now = '${Math.trunc(now())}'` : begin;
  }

  async #fly<T>(connection: Connection, begin: string, flow: Flow<T>): Promise<T> {
    let step = flow.next();
    let opening: string | undefined = begin;
    let committed = false;
    while (!step.done) {
      const flight: Flight = step.value;
      const { statements, unpack } = gather(flight.statements);
      const rendered = statements.map((each) => this.#render(each));
      const answers = unpack(await connection.send(opening, rendered, flight.last === true));
      opening = undefined;
      committed = flight.last === true;
      step = flow.next(answers);
    }
    if (!committed && !opening) await connection.send(undefined, [], true);
    return step.value;
  }

  #render(statement: Sql): Rendered & { name?: string } {
    const rendered = statement.render("postgres", CLOCKS);
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
  #lost: Error | undefined;
  #committing = false;
  readonly #onError = (error: Error): void => {
    this.#lost ??= error;
  };
  readonly #onEnd = (): void => {
    this.#lost ??= new Error("connection closed");
  };

  constructor(client: pg.PoolClient) {
    this.#client = client;
    client.on("error", this.#onError);
    client.on("end", this.#onEnd);
  }

  forget(): void {
    this.#client.off("error", this.#onError);
    this.#client.off("end", this.#onEnd);
  }

  async send(
    begin: string | undefined,
    statements: readonly (Rendered & { name?: string })[],
    commit: boolean,
  ): Promise<Row[][]> {
    const queries: Promise<{ rows: Row[] }>[] = [];
    // One write for the whole flight, not one for each statement.
    const { stream } = (this.#client as unknown as { connection: { stream: Duplex } }).connection;
    stream.cork();
    if (begin) queries.push(this.#client.query(begin));
    for (const statement of statements) queries.push(this.#client.query(statement));
    if (commit) {
      this.#committing = true;
      queries.push(this.#client.query("COMMIT"));
    }
    stream.uncork();
    const answers = await Promise.allSettled(queries);
    // The first failure is the cause; those behind it only say that the transaction is over.
    const failed = answers.find((answer) => answer.status === "rejected");
    if (failed) throw failed.reason;
    const all = answers.map((answer) => (answer as PromiseFulfilledResult<{ rows: Row[] }>).value.rows);
    return all.slice(begin ? 1 : 0, commit ? -1 : undefined);
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
