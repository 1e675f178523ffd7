// A MariaDB of its own, set in a way that nobody would recommend and somebody has.

import { afterAll, beforeAll } from "vitest";
import { createMariadb } from "../support/create-database.ts";
import { start } from "../support/mariadb.ts";
import type { StartedServer } from "../support/server.ts";

/** Answers with the URL of a new, empty database there. */
export function oddMariadb(settings: readonly string[]): () => Promise<string> {
  let server: StartedServer | undefined;
  beforeAll(async () => {
    server = await start(settings);
  }, 120_000);
  afterAll(() => server?.stop());
  return () => {
    if (!server) throw new Error("The server has not started.");
    return createMariadb(server.url, "odd");
  };
}
