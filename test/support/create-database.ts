// Creates empty databases on a running server, for tests and benchmarks. It imports no test runner.

import { randomBytes } from "node:crypto";
import mysql from "mysql2/promise";
import pg from "pg";

/**
 * Creates an empty database on the server at `url` and returns its URL. It sorts text by a language's rules,
 * as most production databases do and a test server usually does not: code that silently relies on byte order
 * must fail here first.
 */
export async function createPostgres(url: string, prefix = "sluice_"): Promise<string> {
  const name = randomName(prefix);
  await onPostgres(url, (client) =>
    client.query(`CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`),
  );
  return urlOf(url, name);
}

/** Creates a copy of the database at `url` on the same server. Nobody may be connected to the original. */
export async function copyPostgres(url: string, prefix: string): Promise<string> {
  const name = randomName(prefix);
  const server = urlOf(url, "postgres");
  await onPostgres(server, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${nameIn(url)}`));
  return urlOf(url, name);
}

/** A database with tables, and the statements that create a copy of it. */
export interface MariadbTemplate {
  readonly url: string;
  readonly statements: string;
}

/** Reads the statements that copy the database at `url`, which must not change from now on. */
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

/** Creates a copy of the template on the same server, in one round trip instead of a migration's dozens. */
export async function copyMariadb({ url, statements }: MariadbTemplate, prefix: string): Promise<string> {
  const copy = await createMariadb(url, prefix);
  await onMariadb(copy, (connection) => connection.query(statements), { multipleStatements: true });
  return copy;
}

/** Creates an empty database on the server at `url` and returns its URL. */
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
