// Makes a database refuse one particular row: any transaction that writes it fails as a whole, at that point.

import type { Aside } from "../../conformance/tables.ts";
import type { Place } from "../../race/support.ts";

export interface Failpoint {
  readonly table: "sluice_task" | "sluice_step";
  /** An SQL condition on the new row, such as "NEW.item = 5000". */
  readonly when: string;
}

const MAKE: Record<Place["name"], (point: Failpoint) => string[]> = {
  PostgreSQL: ({ table, when }) => [
    "CREATE OR REPLACE FUNCTION failpoint() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'failpoint'; END $$",
    `CREATE TRIGGER failpoint BEFORE INSERT ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION failpoint()`,
  ],
  MariaDB: ({ table, when }) => [
    `CREATE TRIGGER failpoint BEFORE INSERT ON ${table} FOR EACH ROW BEGIN IF ${when} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'failpoint'; END IF; END`,
  ],
  SQLite: ({ table, when }) => [
    `CREATE TRIGGER failpoint BEFORE INSERT ON ${table} WHEN ${when} BEGIN SELECT RAISE(ABORT, 'failpoint'); END`,
  ],
};

/** Sets a failpoint and returns the function that removes it. */
export async function setFailpoint(
  name: Place["name"],
  aside: Aside,
  point: Failpoint,
): Promise<() => Promise<void>> {
  for (const statement of MAKE[name](point)) await aside.query(statement);
  const from = name === "PostgreSQL" ? ` ON ${point.table}` : "";
  return async () => void (await aside.query(`DROP TRIGGER failpoint${from}`));
}
