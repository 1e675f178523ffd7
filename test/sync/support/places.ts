// Sync databases for tests: three servers, a clock that the test owns, and connections beside them.

import { afterEach } from "vitest";
import { openSync } from "../../../src/store/sync/open.ts";
import type { SyncDatabase, SyncTables } from "../../../src/store/sync/port.ts";
import type { Aside } from "../../conformance/tables.ts";
import { besideMariadb, besidePostgres } from "../../conformance/tables.ts";
import {
  describeWithInstalled,
  describeWithMariadb,
  describeWithPostgres,
  freshInstalled,
  freshMariadb,
  freshPostgres,
} from "../../support/databases.ts";

export const SERVERS = ["PostgreSQL", "PostgreSQL as installed", "MariaDB"] as const;
type Server = (typeof SERVERS)[number];

export const INACTIVE_MS = 300_000;

const servers = {
  PostgreSQL: { describe: describeWithPostgres, fresh: freshPostgres, beside: besidePostgres },
  "PostgreSQL as installed": {
    describe: describeWithInstalled,
    fresh: freshInstalled,
    beside: besidePostgres,
  },
  MariaDB: { describe: describeWithMariadb, fresh: freshMariadb, beside: besideMariadb },
} as const;

export interface SyncPlace {
  readonly server: Server;
  readonly url: string;
  open(options?: { now?: () => number; tables?: SyncTables }): Promise<SyncDatabase>;
  beside(): Promise<Aside>;
  close(): Promise<void>;
}

async function placeOf(server: Server): Promise<SyncPlace> {
  const { fresh, beside } = servers[server];
  const url = await fresh();
  const closing: (() => Promise<void>)[] = [];
  return {
    server,
    url,
    open: async (options = {}) => {
      const sync = await openSync({ url, inactiveMs: INACTIVE_MS, ...options });
      closing.push(() => sync.close());
      await sync.create();
      return sync;
    },
    beside: async () => {
      const aside = await beside(url);
      closing.push(() => aside.close());
      return aside;
    },
    close: async () => {
      for (const close of closing.splice(0).reverse()) await close().catch(() => {});
    },
  };
}

/** One suite on each server. Each test gets a database of its own. */
export function describeSync(
  name: string,
  suite: (placed: () => Promise<SyncPlace>) => void,
  on: readonly Server[] = SERVERS,
): void {
  for (const server of on) {
    servers[server].describe(`${name}, on ${server}`, () => {
      const open: SyncPlace[] = [];
      afterEach(async () => {
        for (const place of open.splice(0)) await place.close();
      });
      suite(async () => {
        const place = await placeOf(server);
        open.push(place);
        return place;
      });
    });
  }
}
