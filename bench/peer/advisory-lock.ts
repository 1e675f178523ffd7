// One advisory lock of PostgreSQL. Each client has a connection of its own, which waits in the server.
import pg from "pg";
import { asChild } from "../child.ts";
import { contend } from "../contend.ts";
import type { Contest } from "./lock-cases.ts";

await asChild(import.meta.url, async ({ url, clients, grants }: Contest) => {
  const all = await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      return {
        acquire: async () => {
          await client.query("SELECT pg_advisory_lock(1)");
          return () => client.query("SELECT pg_advisory_unlock(1)");
        },
        close: () => client.end(),
      };
    }),
  );
  return contend(all, grants);
});
