// A server that does not let us in has answered. It is never reported as unreachable, and a running worker
// waits until it is let in again.

import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/api/connect.ts";
import { openStore } from "../../src/api/open-store.ts";
import { defineApp, task } from "../../src/index.ts";
import { besideMariadb, besidePostgres } from "../conformance/tables.ts";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshMariadb,
  freshPostgres,
} from "../support/databases.ts";

const other = (url: string, change: Partial<URL>): string => Object.assign(new URL(url), change).href;
const nameFor = (url: string): string => `shut_${new URL(url).pathname.slice(-12).replace(/\W/g, "_")}`;

async function refuses(url: string, words: RegExp): Promise<void> {
  await expect(openStore(url)).rejects.toMatchObject({
    code: "STORE_REFUSED",
    message: expect.stringMatching(words),
  });
}

describeWithPostgres("PostgreSQL refuses", () => {
  async function withRole(): Promise<{
    url: string;
    role: string;
    admin: Awaited<ReturnType<typeof besidePostgres>>;
  }> {
    const url = await freshPostgres();
    const admin = await besidePostgres(url);
    const role = nameFor(url);
    await admin.query(`CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD 'right'`);
    onTestFinished(async () => {
      await admin.query(`REASSIGN OWNED BY ${role} TO CURRENT_USER`);
      await admin.query(`DROP ROLE ${role}`);
      await admin.close();
    });
    return { url: other(url, { username: role, password: "right" }), role, admin };
  }

  test("a database that does not exist", async () => {
    await refuses(
      other(await freshPostgres(), { pathname: "/nowhere" }),
      /database "nowhere" does not exist$/,
    );
  });

  test("a role that may not log in", async () => {
    const { url, role, admin } = await withRole();
    await admin.query(`ALTER ROLE ${role} NOLOGIN`);
    await refuses(url, /refused: role ".*" is not permitted to log in$/);
  });

  test("a running worker, which reports it, tries again, and continues when it is let in", async () => {
    const { url, role, admin } = await withRole();
    const seen: unknown[] = [];
    const mail = task({ id: "mail", run: () => "sent" });
    const app = defineApp({ tasks: [mail] });
    const sluice = await connect({ store: url, app, migrate: true });
    onTestFinished(() => sluice.close({ graceMs: 0 }));
    await sluice.worker({
      poll: "50ms",
      pollJitter: "0ms",
      watch: (event) => {
        if (event.kind === "error") seen.push((event.error as { code?: unknown }).code);
      },
    });
    await admin.query(`ALTER ROLE ${role} NOLOGIN`);
    await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);
    await expect.poll(() => seen, { timeout: 20_000 }).toContain("STORE_REFUSED");
    await expect(sluice.list()).rejects.toMatchObject({ code: "STORE_REFUSED" });
    await admin.query(`ALTER ROLE ${role} LOGIN`);
    const { id } = await sluice.enqueue(mail, undefined);
    expect(await sluice.ended(id)).toMatchObject({ state: "succeeded" });
  }, 60_000);
});

describeWithMariadb("MariaDB refuses", () => {
  test("a wrong password, and a database that does not exist or is not for this user", async () => {
    const url = await freshMariadb();
    const admin = await besideMariadb(url);
    const user = nameFor(url);
    await admin.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'right'`);
    onTestFinished(async () => {
      await admin.query(`DROP USER '${user}'@'%'`);
      await admin.close();
    });
    const as = { username: user, password: "right" };
    await refuses(other(url, { ...as, password: "wrong" }), /refused: Access denied for user/);
    await refuses(other(url, { pathname: "/nowhere" }), /refused: Unknown database 'nowhere'$/);
    await refuses(other(url, as), /refused: Access denied for user .* to database/);
  });
});
