/**
 * MySQL and MariaDB under READ COMMITTED. A flight is one packet of several statements if the server accepts
 * it (`packets.ts`). A lock wait timeout undoes only its own statement there, so every error ends the whole
 * transaction with an explicit ROLLBACK. MySQL has nothing like NOTIFY: see hints.ts.
 */

import type { Pool, PoolConnection } from "mysql2/promise";
import mysql from "mysql2/promise";
import type { Hear, Hint } from "../../core/hint.ts";
import { sleep as hostSleep } from "../../env/timers.ts";
import type { Flow } from "../flow.ts";
import { AmbiguousCommit, isConnectionLoss, isWorthAnother, pauseMs } from "../retry.ts";
import type { Row } from "../row.ts";
import type { Clocks, Sql } from "../sql.ts";
import type { SqlDatabase } from "../sql-store.ts";
import { Turns } from "../turns.ts";
import { Hints } from "./hints.ts";
import { migrateMysql, verifyMysql } from "./migrate.ts";
import { joined, packed, packetBytesOf } from "./packets.ts";
import { refusal } from "./refusal.ts";
import { SETTINGS } from "./settings.ts";

export interface MysqlOptions {
  readonly url: string;
  readonly connections?: number;
  /** For tests only: the instant the database takes for now. */
  readonly now?: () => number;
  readonly random?: () => number;
  readonly sleep?: (ms: number) => Promise<void>;
}

const CLOCK = "CAST(ROUND(UNIX_TIMESTAMP(NOW(3)) * 1000) AS SIGNED)";
/** Used only if the variable is set: next to an unset variable, a number is returned as bytes. */
const CLOCK_OF_TESTS = `COALESCE(@sluice_now, ${CLOCK})`;

export class MysqlDatabase implements SqlDatabase {
  readonly dialect = "mysql";
  readonly where: string;
  readonly pool: Pool;
  readonly #options: MysqlOptions;
  readonly #hints: Hints;
  readonly #clocks: Clocks;
  readonly #turns: Turns;
  #closed = false;

  constructor(options: MysqlOptions) {
    this.#options = options;
    this.where = options.url;
    const { connections = 8 } = options;
    this.#turns = new Turns(connections);
    const clock = options.now ? CLOCK_OF_TESTS : CLOCK;
    this.#clocks = { wall: clock, lease: clock };
    this.pool = mysql.createPool({
      uri: options.url,
      connectionLimit: connections,
      multipleStatements: true,
      charset: "utf8mb4_bin",
      connectTimeout: 10_000,
      enableKeepAlive: true,
    });
    this.#hints = new Hints(this.pool);
    this.pool.pool.on("connection", (connection) => {
      // If the connection is lost meanwhile, the caller that asked for it gets the error.
      connection.query(SETTINGS, () => {});
      connection.on("error", () => {});
    });
  }

  migrate(): Promise<void> {
    return this.#turns
      .during(true, () => migrateMysql(this.pool))
      .catch((error: unknown) => {
        throw refusal(error);
      });
  }

  verify(): Promise<void> {
    return this.#turns.during(true, () => verifyMysql(this.pool));
  }

  transact<T>(flow: () => Flow<T>, isFirst = false): Promise<T> {
    return this.#again("START TRANSACTION", flow, "writing", isFirst);
  }

  read<T>(flow: () => Flow<T>): Promise<T> {
    return this.#again(
      "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT",
      flow,
      "reading",
      false,
    );
  }

  async #again<T>(
    begin: string,
    flow: () => Flow<T>,
    kind: "writing" | "reading",
    isFirst: boolean,
  ): Promise<T> {
    const { random = Math.random, sleep = hostSleep, now } = this.#options;
    const opening = now ? `SET @sluice_now = ${Math.trunc(now())}; ${begin}` : begin;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#turns.during(isFirst, () => this.#once(opening, flow(), kind));
      } catch (error) {
        if (!isWorthAnother(error, attempt)) throw error;
        await sleep(pauseMs(attempt, random()));
      }
    }
  }

  async #once<T>(begin: string, flow: Flow<T>, kind: "writing" | "reading"): Promise<T> {
    const connection = await this.pool.getConnection();
    const transaction = new Transaction(connection, begin, this.#clocks);
    try {
      let step = flow.next();
      while (!step.done)
        step = flow.next(await transaction.send(step.value.statements, step.value.last === true));
      await transaction.finish();
      connection.release();
      return step.value;
    } catch (error) {
      if (isConnectionLoss(error)) {
        connection.destroy();
        // A read has nothing that could have been committed, so it is simply repeated.
        throw kind === "writing" && transaction.committing ? new AmbiguousCommit(error) : error;
      }
      await connection.query("ROLLBACK").then(
        () => connection.release(),
        () => connection.destroy(),
      );
      throw refusal(error);
    }
  }

  async listen(hear: Hear): Promise<() => Promise<void>> {
    return this.#hints.listen(hear);
  }

  hint(hint: Hint): void {
    this.#hints.tell(hint);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#hints.close();
    await this.#turns.close();
    await this.pool.end();
  }
}

/** A transaction that opens with its first flight and commits with its last. */
class Transaction {
  readonly #connection: PoolConnection;
  readonly #clocks: Clocks;
  #begin: string | undefined;
  #done = false;
  committing = false;

  constructor(connection: PoolConnection, begin: string, clocks: Clocks) {
    this.#connection = connection;
    this.#begin = begin;
    this.#clocks = clocks;
  }

  async send(statements: readonly Sql<unknown>[], commit: boolean): Promise<Row[][]> {
    const before = this.#begin?.split("; ") ?? [];
    const texts = [...before, ...statements.map((each) => this.#render(each)), ...(commit ? ["COMMIT"] : [])];
    this.#begin = undefined;
    const packets = packed(texts, await packetBytesOf(this.#connection));
    const answers: unknown[] = [];
    for (const packet of packets) {
      this.committing = commit && packet === packets.at(-1);
      const [results] = await this.#connection.query(joined(packet));
      answers.push(...(packet.length > 1 && Array.isArray(results) ? results : [results]));
    }
    this.#done = commit;
    return answers.slice(before.length, before.length + statements.length).map(rowsIn);
  }

  /** The text with its values in it, as it is sent. */
  #render(statement: Sql<unknown>): string {
    const { text, values } = statement.render("mysql", this.#clocks);
    return this.#connection.format(text, values);
  }

  async finish(): Promise<void> {
    if (!this.#done) await this.send([], true);
  }
}

/** A statement that only writes is answered with a header. */
const rowsIn = (answer: unknown): Row[] => (Array.isArray(answer) ? answer : []);
