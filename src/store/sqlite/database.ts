/**
 * SQLite: the write lock is the lock of every gate. A flow runs from BEGIN IMMEDIATE to COMMIT without a
 * single await, so nothing interleaves within a process. Between processes the lock decides. A process that
 * has held the lock then leaves it free for the same time, because SQLite itself is not fair.
 */

import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite";
import { DatabaseSync } from "@photostructure/sqlite";
import { SluiceError } from "../../core/error.ts";
import type { Hear, Hint } from "../../core/hint.ts";
import { messageOf, sqliteResult } from "../driver-error.ts";
import type { Flow } from "../flow.ts";
import type { Row } from "../row.ts";
import { int, text as textOf } from "../row.ts";
import { checkVersion } from "../schema.ts";
import type { Clocks, Rendered } from "../sql.ts";
import type { SqlDatabase } from "../sql-store.ts";
import { Breath } from "./breath.ts";
import { networkOf } from "./filesystem.ts";
import { migrateSqlite, schemaVersion } from "./migrate.ts";
import { Neighbours } from "./neighbours.ts";
import { OpenedFile } from "./opened-file.ts";
import { DiskReserve } from "./reserve.ts";
import type { SqliteTime } from "./time.ts";

const BUSY_FOR_MS = 30_000;
const MOST_STATEMENTS = 500;

export class SqliteDatabase implements SqlDatabase {
  readonly dialect = "sqlite";
  readonly where: string;
  readonly #db: DatabaseSyncInstance;
  readonly #file: OpenedFile;
  readonly #time: SqliteTime;
  readonly #prepared = new Map<string, StatementSyncInstance>();
  readonly #selects = new Map<string, StatementSyncInstance>();
  readonly #neighbours: Neighbours;
  readonly #reserve: DiskReserve;
  #closed = false;
  readonly #breath = new Breath();
  /** The number of vital writes that wait for the lock. */
  #vital = 0;

  constructor(path: string, time: SqliteTime) {
    this.where = path;
    this.#db = new DatabaseSync(path);
    this.#time = time;
    // We wait in `#whenFree` instead, so that the event loop goes on.
    this.#db.exec("PRAGMA busy_timeout = 0");
    // A cache for the hot pages of a large store, and checkpoints rare enough not to limit the throughput.
    this.#db.exec("PRAGMA cache_size = -65536");
    this.#db.exec("PRAGMA wal_autocheckpoint = 8000");
    this.#file = new OpenedFile(path);
    this.#neighbours = new Neighbours(this.#db, time, () => this.#file.isGone);
    this.#reserve = new DiskReserve(path, () => time.lease());
  }

  async migrate(): Promise<void> {
    await this.#whenFree(() => {
      this.#db.exec("PRAGMA journal_mode = WAL");
      this.#db.exec("PRAGMA synchronous = FULL");
      const row: Row = this.#db.prepare("PRAGMA synchronous").get();
      const mode = int(row.synchronous);
      if (mode !== 2)
        throw new SluiceError(
          "NOT_DURABLE",
          `SQLite did not accept synchronous = FULL (it reports ${mode}), so a power failure could lose a commit.`,
        );
    });
    await this.#whenFree(() => migrateSqlite(this.#db, this.#time));
    this.#reserve.keep();
  }

  /** True if the file has no tables of ours. */
  isBlank(): boolean {
    return schemaVersion(this.#db) === 0;
  }

  async verify(): Promise<void> {
    this.#file.check();
    checkVersion(schemaVersion(this.#db));
  }

  async transact<T>(flow: () => Flow<T>, isFirst = false): Promise<T> {
    this.#file.check();
    this.#reserve.check();
    await this.#neighbours.giveWay();
    try {
      return await this.#write(flow, isFirst);
    } catch (error) {
      throw isFull(error) ? this.#reserve.giveUp(error) : error;
    }
  }

  /**
   * Goes before all other writes of this process. If many processes want the lock, a lease must not expire
   * because its own process won the lock for a write that could have waited.
   */
  async vital<T>(flow: () => Flow<T>): Promise<T> {
    this.#vital += 1;
    try {
      return await this.#writeAnyway(flow);
    } finally {
      this.#vital -= 1;
    }
  }

  /**
   * If the disk is full, moves the log's content into the database, so that the log's space can be reused.
   */
  async #writeAnyway<T>(flow: () => Flow<T>): Promise<T> {
    try {
      return await this.#write(flow, true, true);
    } catch (error) {
      if (!isFull(error)) throw error;
      this.#reserve.giveUp(error);
      await this.#whenFree(() => this.#db.exec("PRAGMA wal_checkpoint(RESTART)")).catch(() => {});
      return this.#write(flow, true, true);
    }
  }

  #write<T>(flow: () => Flow<T>, isFirst: boolean, isVital = false): Promise<T> {
    const isOurTurn = (): boolean => isVital || this.#vital === 0;
    return this.#whenFree(
      () => {
        this.#file.check();
        this.#exec("BEGIN IMMEDIATE");
        const since = this.#time.lease();
        try {
          const result = this.#run(flow());
          this.#exec("COMMIT");
          // A commit to a file that nobody else can open is not acknowledged.
          this.#file.check();
          return result;
        } catch (error) {
          if (this.#db.isTransaction) this.#exec("ROLLBACK");
          throw error;
        } finally {
          this.#neighbours.held(this.#time.lease() - since);
        }
      },
      isFirst,
      isOurTurn,
    );
  }

  async read<T>(flow: () => Flow<T>): Promise<T> {
    return this.#whenFree(() => {
      this.#file.check();
      this.#exec("BEGIN");
      try {
        return this.#run(flow());
      } finally {
        this.#exec("COMMIT");
      }
    });
  }

  #run<T>(flow: Flow<T>): T {
    const clocks: Clocks = { wall: this.#time.wall(), lease: Math.floor(this.#time.lease()) };
    let step = flow.next();
    while (!step.done) {
      const answers = step.value.statements.map((statement) =>
        this.#query(statement.render("sqlite", clocks)),
      );
      step = flow.next(answers);
    }
    return step.value;
  }

  #query({ text, values }: Rendered): Row[] {
    if (!text.startsWith("SELECT")) return this.#prepare(text).run(...values).changes > 0 ? CHANGED : NOTHING;
    const row: Row = this.#select(text).get(...values);
    return JSON.parse(textOf(row.all));
  }

  /** Rows are passed from the native driver as one text, which is three times as fast as cell by cell. */
  #select(text: string): StatementSyncInstance {
    const known = this.#selects.get(text);
    if (known) return known;
    const columns = this.#db.prepare(text).columns();
    const fields = columns.map(({ name }) => `'${name}', x."${name}"`).join(", ");
    const select = this.#db.prepare(
      `SELECT json_group_array(json_object(${fields})) AS "all" FROM (${text}) AS x`,
    );
    if (this.#selects.size > MOST_STATEMENTS) this.#selects.clear();
    this.#selects.set(text, select);
    return select;
  }

  #exec(text: string): void {
    this.#prepare(text).run();
  }

  #prepare(text: string): StatementSyncInstance {
    const known = this.#prepared.get(text);
    if (known) return known;
    const statement = this.#db.prepare(text);
    if (this.#prepared.size > MOST_STATEMENTS) this.#prepared.clear();
    this.#prepared.set(text, statement);
    return statement;
  }

  /** Retries asynchronously while another process has the lock. */
  async #whenFree<T>(work: () => T, isFirst = false, isOurTurn = () => true): Promise<T> {
    const until = this.#time.lease() + BUSY_FOR_MS;
    for (let attempt = 0; ; attempt += 1) {
      while (!isOurTurn()) await this.#time.sleep(1);
      while (!isFirst && this.#breath.isDue) await this.#breath.pause();
      try {
        return this.#breath.measured(work);
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (this.#time.lease() > until) throw keptBusy(error);
        this.#neighbours.met();
        await this.#time.sleep(attempt < 20 ? 1 : 5);
      }
    }
  }

  ground(): Record<string, string> {
    const network = networkOf(this.where);
    return network === undefined ? {} : { filesystem: network };
  }

  async listen(hear: Hear): Promise<() => Promise<void>> {
    return this.#neighbours.listen(hear);
  }

  hint(hint: Hint): void {
    this.#neighbours.tell(hint);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#neighbours.stop();
    this.#prepared.clear();
    this.#selects.clear();
    this.#db.close();
  }
}

/** The answers of a statement that writes. */
const CHANGED: Row[] = [{}];
const NOTHING: Row[] = [];

const keptBusy = (cause: unknown): Error =>
  Object.assign(new Error(`another process has kept it locked for ${BUSY_FOR_MS / 1_000}s.`, { cause }), {
    code: "SQLITE_BUSY",
  });

const BUSY = 5;
const FULL = 13;

function isFull(error: unknown): boolean {
  return sqliteResult(error) === FULL || /database or disk is full/.test(messageOf(error));
}

function isBusy(error: unknown): boolean {
  return sqliteResult(error) === BUSY || /database is locked/.test(messageOf(error));
}
