// A private MariaDB server with settings that nobody would recommend but somebody uses.

import { afterAll, beforeAll } from "vitest";
import { createMariadb } from "../support/create-database.ts";
import { start } from "../support/mariadb.ts";
import type { StartedServer } from "../support/server.ts";

/** Starts the server. The returned function creates an empty database there and returns its URL. */
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
