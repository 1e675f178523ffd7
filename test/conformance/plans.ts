// Reads how PostgreSQL will run a store's statements, whatever state the tables were in when it planned them.
// Plans are made once per connection, and a table that was empty then may be long when the plan runs.

import { AsyncLocalStorage } from "node:async_hooks";
import { PostgresDatabase } from "../../src/store/postgres/database.ts";
import { SETTINGS } from "../../src/store/postgres/settings.ts";
import { Sql } from "../../src/store/sql.ts";
import { SqlStore } from "../../src/store/sql-store.ts";
import type { Aside } from "./tables.ts";

interface Plan {
  readonly "Node Type": string;
  readonly "Total Cost": number;
  /** Set since PostgreSQL 18. Older versions show it in the cost. */
  readonly Disabled?: boolean;
  readonly "Relation Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly Plan[];
}

/**
 * Collects every statement that moves work. Statements of reads and of `deleteGate` are left out, because
 * they are planned anew each time.
 */
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

  /** Plans all statements on the server of `aside`. `tables` are the long ones. */
  async look(aside: Aside, tables: readonly string[]): Promise<Looked> {
    const long = new Set(tables.map((name) => `sluice_${name}`));
    const names = await this.#prepare(aside);
    const ours = await plansOf(aside, names, SETTINGS);
    const callers = await plansOf(aside, names, {});
    await aside.query("DEALLOCATE ALL");
    return {
      walks: ours.flatMap(({ text, plan }) =>
        scannedIn(plan)
          .filter((table) => long.has(table))
          .map((table) => `${table}: ${text}`),
      ),
      forced: ours.filter(({ plan }) => isForced(plan)).map(({ text }) => text),
      dearest: Math.max(...callers.map(({ plan }) => plan["Total Cost"])),
    };
  }

  async #prepare(aside: Aside): Promise<Named[]> {
    const named: Named[] = [];
    for (const text of this.#texts) {
      const parameters = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)));
      const nulls = Array.from({ length: parameters }, () => "NULL").join(", ");
      const name = `s${named.length}`;
      await aside.query(`PREPARE ${name} AS ${text}`);
      named.push({ text, call: parameters > 0 ? `${name}(${nulls})` : name });
    }
    return named;
  }
}

interface Looked {
  /** Statements that would scan a whole long table, as "table: statement". */
  readonly walks: readonly string[];
  /**
   * Statements that can run only in a way that is switched off, recognised on older servers by absurd costs.
   */
  readonly forced: readonly string[];
  /**
   * The cost of the most expensive statement on a connection without our settings, such as a caller's own.
   */
  readonly dearest: number;
}

interface Named {
  readonly text: string;
  readonly call: string;
}

/** Generic plans, valid for all values, as a server of any version makes them. */
async function plansOf(
  aside: Aside,
  named: readonly Named[],
  settings: Readonly<Record<string, string>>,
): Promise<Planned[]> {
  await aside.query("BEGIN");
  const all = { ...settings, plan_cache_mode: "force_generic_plan" };
  for (const [name, value] of Object.entries(all)) await aside.query(`SET LOCAL ${name} = '${value}'`);
  await aside.query("DISCARD PLANS");
  const planned: Planned[] = [];
  for (const { text, call } of named) {
    const rows = await aside.query(`EXPLAIN (FORMAT JSON) EXECUTE ${call}`);
    const explained = rows[0]?.["QUERY PLAN"] as readonly { Plan: Plan }[];
    for (const { Plan: plan } of explained) planned.push({ text: text.replace(/\s+/g, " "), plan });
  }
  await aside.query("ROLLBACK");
  return planned;
}

interface Planned {
  readonly text: string;
  readonly plan: Plan;
}

/** PostgreSQL before 18 adds this to the cost of a plan node that is switched off. */
const SWITCHED_OFF = 1e10;

const isForced = (plan: Plan): boolean =>
  plan.Disabled === true || plan["Total Cost"] >= SWITCHED_OFF || (plan.Plans ?? []).some(isForced);

/** Tables that are scanned from end to end, because no condition says where in an index to look. */
function scannedIn(plan: Plan): string[] {
  const table = plan["Relation Name"];
  const isFound = [plan, ...(plan.Plans ?? [])].some((each) => each["Index Cond"] !== undefined);
  const own = table && plan["Node Type"].endsWith("Scan") && !isFound ? [table] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(scannedIn)];
}

const MANY = 20_000;
const each = (select: string): string => `SELECT ${select} FROM generate_series(1, ${MANY}) AS n`;

/** Fills the tables like those of a much-used store, and returns the names of the long ones. */
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
