// How PostgreSQL will run the statements of a store, in whatever state its tables were when it made up its mind: plans
// are made once per connection, and tables that were empty then may be long by the time they run.

import { AsyncLocalStorage } from "node:async_hooks";
import { PostgresDatabase, SETTINGS } from "../../src/store/postgres/database.ts";
import { Sql } from "../../src/store/sql.ts";
import { SqlStore } from "../../src/store/sql-store.ts";
import type { Aside } from "./tables.ts";

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly Plan[];
}

/** Every statement that is written or looked up while work is moved; what people ask or take out is planned each time anew. */
export class Statements {
  readonly #texts = new Set<string>();
  readonly #asking = new AsyncLocalStorage<true>();
  readonly #undo: () => void;

  constructor() {
    const texts = this.#texts;
    const asking = this.#asking;
    const { render } = Sql.prototype;
    const { read } = PostgresDatabase.prototype;
    const { deleteGate } = SqlStore.prototype;
    Sql.prototype.render = function (dialect, clock) {
      const rendered = render.call(this, dialect, clock);
      if (dialect === "postgres" && !asking.getStore()) texts.add(rendered.text);
      return rendered;
    };
    PostgresDatabase.prototype.read = function (flow) {
      return asking.run(true, () => read.call(this, flow)) as never;
    };
    SqlStore.prototype.deleteGate = function (key) {
      return asking.run(true, () => deleteGate.call(this, key));
    };
    this.#undo = () => {
      SqlStore.prototype.deleteGate = deleteGate;
      Sql.prototype.render = render;
      PostgresDatabase.prototype.read = read;
    };
  }

  get count(): number {
    return this.#texts.size;
  }

  release(): void {
    this.#undo();
  }

  /** Those that would walk through all of one of these tables, as "table: statement". */
  async walks(aside: Aside, tables: readonly string[]): Promise<string[]> {
    const long = new Set(tables.map((name) => `sluice_${name}`));
    for (const [name, value] of Object.entries(SETTINGS)) await aside.query(`SET ${name} = '${value}'`);
    const found: string[] = [];
    for (const text of this.#texts) {
      const rows = await aside.query(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`);
      const explained = rows[0]?.["QUERY PLAN"] as readonly { Plan: Plan }[];
      for (const table of explained.flatMap(({ Plan }) => scannedIn(Plan)))
        if (long.has(table)) found.push(`${table}: ${text.replace(/\s+/g, " ")}`);
    }
    return found;
  }
}

/** Tables that are read from one end to the other: no condition says where in an index to look. */
function scannedIn(plan: Plan): string[] {
  const table = plan["Relation Name"];
  const isFound = [plan, ...(plan.Plans ?? [])].some((each) => each["Index Cond"] !== undefined);
  const own = table && plan["Node Type"].endsWith("Scan") && !isFound ? [table] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(scannedIn)];
}

const MANY = 20_000;
const each = (select: string): string => `SELECT ${select} FROM generate_series(1, ${MANY}) AS n`;

/** Fills the tables of a store that has seen much, and names those that are long now. */
export async function fill(aside: Aside, state: "a long line" | "many lanes"): Promise<string[]> {
  const lane = state === "many lanes" ? "'l' || n" : "'l1'";
  const life = "1, 0, NULL, 1";
  const lanes = "id, queue, task, asks, state, head_precedence, head_at, head_id, blocked";
  const filled = {
    task: `INSERT INTO sluice_task ${each(`'u' || n, 't', 'q', ${lane}, '[]', 0, '{}', '{}', NULL, NULL, n, 'r' || n, 's', n`)}`,
    waiting: `INSERT INTO sluice_waiting ${each(`'u' || n, ${lane}, 0, n, ${life}`)}`,
    later: `INSERT INTO sluice_later ${each(`'d' || n, ${lane}, 0, n, ${life}, 'retry'`)}`,
    outcome: `INSERT INTO sluice_outcome ${each("'o' || n, 'succeeded', n, 1, 0, 'null', 's', n, 1, n, 3")}`,
    event: `INSERT INTO sluice_event ${each("'u' || n, 1, 'TaskEnqueued', n, NULL")}`,
    deadline: `INSERT INTO sluice_deadline ${each("'u' || n, n + 1000000")}`,
    timer: `INSERT INTO sluice_timer ${each("'u' || n, 'claim', n + 1000000")}`,
    run: `INSERT INTO sluice_run ${each("'r' || n, 'w' || n % 9, 'g', '[]', 'code', NULL, 0")}`,
    step: `INSERT INTO sluice_step ${each("'r' || n, 's', 'open', 'u' || n, NULL, NULL, NULL, NULL")}`,
    lane: `INSERT INTO sluice_lane (${lanes}) ${each("'l' || n, 'q', 't', '[]', 1, 0, n, 'u' || n, '[]'")}${state === "many lanes" ? "" : " LIMIT 1"}`,
  };
  for (const statement of Object.values(filled)) await aside.query(statement);
  await aside.query("VACUUM ANALYZE");
  return Object.keys(filled).filter((table) => table !== "lane" || state === "many lanes");
}
