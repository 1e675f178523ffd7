// Empty databases on a running server, for tests and benchmarks. No test runner is imported here.

import { randomBytes } from "node:crypto";
import mysql from "mysql2/promise";
import pg from "pg";

/**
 * Creates an empty database on the server behind `url` and returns its URL.
 * It sorts text by a language's rules, as most production databases do and a test server usually does not: code that
 * silently relies on byte order shall fail here first.
 */
export async function createPostgres(url: string, prefix = "sluice_"): Promise<string> {
  const name = randomName(prefix);
  await onPostgres(url, (client) =>
    client.query(`CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`),
  );
  return urlOf(url, name);
}

/** Creates a database on the same server with all that is in the one behind `url`, to which nobody may be connected. */
export async function copyPostgres(url: string, prefix: string): Promise<string> {
  const name = randomName(prefix);
  const server = urlOf(url, "postgres");
  await onPostgres(server, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${nameIn(url)}`));
  return urlOf(url, name);
}

/** A database with tables in it, as the statements that make another one like it. */
export interface MariadbTemplate {
  readonly url: string;
  readonly statements: string;
}

/** What makes a copy of the database behind `url`, which stays as it is from now on. */
export async function mariadbTemplate(url: string): Promise<MariadbTemplate> {
  const statements: string[] = [];
  await onMariadb(url, async (connection) => {
    const template = nameIn(url);
    const [tables] = await connection.query<mysql.RowDataPacket[]>("SHOW TABLES");
    for (const name of tables.map((row) => String(Object.values(row)[0])).sort()) {
      const [made] = await connection.query<mysql.RowDataPacket[]>(`SHOW CREATE TABLE ${name}`);
      const [rows] = await connection.query<mysql.RowDataPacket[]>(`SELECT 1 FROM ${name} LIMIT 1`);
      statements.push(String(made[0]?.["Create Table"]));
      if (rows.length > 0) statements.push(`INSERT INTO ${name} SELECT * FROM ${template}.${name}`);
    }
  });
  return { url, statements: statements.join(";\n") };
}

/** Creates a database on the same server with all that is in the template: in one go, where a migration takes dozens. */
export async function copyMariadb({ url, statements }: MariadbTemplate, prefix: string): Promise<string> {
  const copy = await createMariadb(url, prefix);
  await onMariadb(copy, (connection) => connection.query(statements), { multipleStatements: true });
  return copy;
}

/** Creates an empty database on the server behind `url` and returns its URL. */
export async function createMariadb(url: string, prefix = "sluice_"): Promise<string> {
  const name = randomName(prefix);
  await onMariadb(url, (connection) => connection.query(`CREATE DATABASE ${name}`));
  return urlOf(url, name);
}

/** Removes every database whose name begins with `prefix`. */
export async function dropPostgreses(url: string, prefix: string): Promise<void> {
  await onPostgres(url, async (client) => {
    const found = await client.query("SELECT datname FROM pg_database WHERE starts_with(datname, $1)", [
      prefix,
    ]);
    for (const { datname } of found.rows) await client.query(`DROP DATABASE ${datname} WITH (FORCE)`);
  });
}

/** Removes every database whose name begins with `prefix`. */
export async function dropMariadbs(url: string, prefix: string): Promise<void> {
  await onMariadb(url, async (connection) => {
    const [rows] = await connection.query<mysql.RowDataPacket[]>(
      "SELECT schema_name AS name FROM information_schema.schemata WHERE LEFT(schema_name, ?) = ?",
      [prefix.length, prefix],
    );
    for (const { name } of rows) await connection.query(`DROP DATABASE ${name}`);
  });
}

async function onPostgres(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function onMariadb(
  url: string,
  work: (connection: mysql.Connection) => Promise<unknown>,
  options: mysql.ConnectionOptions = {},
): Promise<void> {
  const connection = await mysql.createConnection({ uri: url, ...options });
  try {
    await work(connection);
  } finally {
    await connection.end();
  }
}

function randomName(prefix: string): string {
  return `${prefix}${randomBytes(6).toString("hex")}`;
}

function nameIn(url: string): string {
  return new URL(url).pathname.slice(1);
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
