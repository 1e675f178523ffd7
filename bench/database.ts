import pg from "pg";

/** Creates an empty database on the server at `url`. Every system gets its own. */
export async function freshDatabase(
  url: string,
  name: string,
): Promise<{ url: string; drop(): Promise<void> }> {
  const database = `bench_${name.replace(/\W+/g, "_")}_${process.pid}_${++created}`;
  await statement(url, `CREATE DATABASE ${database}`);
  const own = new URL(url);
  own.pathname = `/${database}`;
  return {
    url: own.href,
    // FORCE, because a killed child may have left sessions behind.
    drop: () => statement(url, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`),
  };
}

/**
 * Every system calls this between filling the table and starting the clock, so that the measurement does not
 * include statistics, hint bits or a checkpoint caused by the inserts.
 */
export async function settle(url: string): Promise<void> {
  await statement(url, "VACUUM ANALYZE");
  await statement(url, "CHECKPOINT");
}

export async function serverVersion(url: string): Promise<string> {
  const rows = await query(url, "SHOW server_version");
  return String(rows[0]?.server_version);
}

let created = 0;

async function statement(url: string, sql: string): Promise<void> {
  await query(url, sql);
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
