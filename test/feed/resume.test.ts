// A reader that stops in an orderly way can come back, as one that was killed can: on every store, for every
// keep, however it stopped.

import { describe, expect, onTestFinished, test } from "vitest";
import type { ChangeFeed, ChangeFilter, Sluice } from "../../src/index.ts";
import { connect, defineApp, task } from "../../src/index.ts";
import { openMemory } from "../../src/store/memory/index.ts";
import type { Store } from "../../src/store/store.ts";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshSqlite,
  migratedMariadb,
  migratedPostgres,
} from "../support/databases.ts";

const mail = task({ id: "mail", queue: "email", run: () => 1 });
const app = defineApp({ tasks: [mail], queueMode: "custom", queues: { email: {} } });

const STOPS: Readonly<Record<string, (sluice: Sluice, leaving: AbortController) => Promise<void>>> = {
  "a close while it waits": (sluice) => sluice.close(),
  "an abort and a close": async (sluice, leaving) => {
    leaving.abort();
    await sluice.close();
  },
  "two closes at once": async (sluice) => {
    await Promise.all([sluice.close(), sluice.close()]);
  },
};

/** The store's URL, or the store itself where only one process can have it. */
function suite(place: () => Promise<string | Store>): void {
  const world = async () => {
    const store = await place();
    const open = async (): Promise<Sluice> => {
      const sluice = await connect({ store, app });
      onTestFinished(() => sluice.close());
      return sluice;
    };
    return { open, writer: await open() };
  };

  /** The inputs of the next changes, read in a process of its own. */
  const resumed = async (sluice: Sluice, filter: ChangeFilter, many: number): Promise<string[]> => {
    const subjects: string[] = [];
    for await (const { subject } of sluice.changes(filter)) {
      subjects.push(subject);
      if (subjects.length === many) break;
    }
    return subjects;
  };

  const firstOf = async (feed: ChangeFeed): Promise<string | undefined> => {
    for await (const { cursor } of feed) return cursor;
    return undefined;
  };

  test.each([{}, { keep: "30s" }, { keep: "10m" }])("after a break and a close, with %o", async (keep) => {
    const { open, writer } = await world();
    const filter = { queue: "email", ...keep };
    const reader = await open();
    const feed = reader.changes(filter);
    await feed.begin();
    await writer.enqueue(mail, undefined);
    const after = (await firstOf(feed)) as string;
    // A write that the reader left behind would be done by the time its later calls are.
    await reader.list();
    await reader.close();
    const { id } = await writer.enqueue(mail, undefined);
    expect(await resumed(await open(), { ...filter, after }, 1)).toEqual([id]);
  });

  for (const [how, stop] of Object.entries(STOPS))
    test.each([{}, { keep: "30s" }, { keep: "10m" }])(`after ${how}, with %o`, async (keep) => {
      const { open, writer } = await world();
      const filter = { queue: "email", ...keep };
      const reader = await open();
      const leaving = new AbortController();
      const feed = reader.changes({ ...filter, signal: leaving.signal });
      // A reader that has heard nothing yet resumes from its beginning.
      const after = await feed.begin();
      const reading = firstOf(feed).catch(() => undefined);
      await stop(reader, leaving);
      await reading;
      const { id } = await writer.enqueue(mail, undefined);
      expect(await resumed(await open(), { ...filter, after }, 1)).toEqual([id]);
    });
}

describe("on memory", () => suite(async () => openMemory()));
describe("on SQLite", () => suite(async () => `file:${await freshSqlite()}`));
describeWithPostgres("on PostgreSQL", () => suite(migratedPostgres));
describeWithMariadb("on MariaDB", () => suite(migratedMariadb));
