// A store that is reachable but refuses to be migrated says why, and is never reported as unreachable.

import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/api/open-store.ts";
import { besideMariadb, besidePostgres } from "../conformance/tables.ts";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshMariadb,
  freshPostgres,
} from "../support/databases.ts";

const migrating = (url: URL): Promise<unknown> => openStore(url.href, { migrate: true });

describeWithPostgres("on PostgreSQL", () => {
  async function asRole(right: string): Promise<URL> {
    const url = new URL(await freshPostgres());
    const admin = await besidePostgres(url.href);
    const role = `odd_${url.pathname.slice(1).replace(/\W/g, "_")}`;
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'odd'`);
    onTestFinished(async () => {
      await admin.query(`DROP OWNED BY ${role}`);
      await admin.query(`DROP ROLE ${role}`);
      await admin.close();
    });
    await admin.query(right.replaceAll("ROLE", role));
    return Object.assign(url, { username: role, password: "odd" });
  }

  test("a role that may not write", async () => {
    const url = await asRole(
      "GRANT ALL ON SCHEMA public TO ROLE; ALTER USER ROLE SET default_transaction_read_only = on",
    );
    await expect(migrating(url)).rejects.toMatchObject({
      code: "STORE_READ_ONLY",
      message: expect.stringMatching(
        /ALTER ROLE … SET .*ALTER DATABASE … SET .*SELECT source FROM pg_settings/,
      ),
    });
  });

  test("a search_path that names no schema", async () => {
    const url = await asRole("ALTER USER ROLE SET search_path = nowhere");
    await expect(migrating(url)).rejects.toMatchObject({
      code: "STORE_REFUSED",
      message: expect.stringContaining("search_path"),
    });
  });

  test("a role that may not make tables", async () => {
    const url = await asRole(
      "REVOKE CREATE ON SCHEMA public FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM ROLE",
    );
    await expect(migrating(url)).rejects.toMatchObject({
      code: "STORE_REFUSED",
      message: expect.stringContaining("permission denied for schema public"),
    });
  });
});

describeWithMariadb("on MariaDB", () => {
  async function asUser(rights: string): Promise<URL> {
    const url = new URL(await freshMariadb());
    const admin = await besideMariadb(url.href);
    const user = `odd_${url.pathname.slice(-12).replace(/\W/g, "_")}`;
    await admin.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'odd'`);
    onTestFinished(async () => {
      await admin.query(`DROP USER '${user}'@'%'`);
      await admin.close();
    });
    await admin.query(`GRANT ${rights} ON \`${url.pathname.slice(1)}\`.* TO '${user}'@'%'`);
    return Object.assign(url, { username: user, password: "odd" });
  }

  test("a user that may not make tables", async () => {
    await expect(migrating(await asUser("SELECT, INSERT"))).rejects.toMatchObject({
      code: "STORE_REFUSED",
      message: expect.stringMatching(/CREATE command denied/),
    });
  });
});
