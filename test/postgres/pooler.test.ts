// A real PgBouncer in transaction mode, between the store and the PostgreSQL of this machine's distribution.

import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { examine } from "../../src/api/doctor/doctor.ts";
import { connect, defineApp, task } from "../../src/index.ts";
import { openPostgres } from "../../src/store/postgres/index.ts";
import type { Store } from "../../src/store/store.ts";
import { closedAtOnce, closedWhileWaiting } from "../support/closing.ts";
import { describeWithInstalled, freshInstalled } from "../support/databases.ts";
import { findPgbouncer, startPgbouncer } from "../support/pgbouncer.ts";
import type { StartedServer } from "../support/server.ts";

/** A pooler either refuses connections with settings or drops the settings. */
const POOLERS = [
  { does: "refuses settings", lines: [] },
  { does: "drops settings", lines: ["ignore_startup_parameters = options"] },
];

describeWithInstalled("behind a pooler in transaction mode", () => {
  if (!findPgbouncer())
    describe.skip("(skipped: PgBouncer not found, apt-get install pgbouncer)", () => test("", () => {}));
  else describe.each(POOLERS)("that $does", ({ lines }) => suite(lines));
});

function suite(lines: readonly string[]): void {
  let direct: string;
  let pooler: StartedServer;
  const stores: Store[] = [];
  const opened = (options: Parameters<typeof openPostgres>[0]): Store => {
    const store = openPostgres(options);
    stores.push(store);
    return store;
  };
  const checkOf = async (store: Store, name: string) =>
    (await examine(store)).checks.find(({ check }) => check === name);

  beforeAll(async () => {
    direct = await freshInstalled();
    pooler = await startPgbouncer(direct, lines);
    await opened({ url: pooler.url }).migrate();
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    await pooler?.stop();
  });

  test("work is enqueued and done, over more connections than the pooler has, without being told of it", async () => {
    const seen: number[] = [];
    const work = task({ id: "work", run: ({ n }: { n: number }) => void seen.push(n) });
    const sluice = await connect({ store: pooler.url, app: defineApp({ tasks: [work] }) });
    const worker = await sluice.worker({ slots: 8 });
    const tasks = await Promise.all(Array.from({ length: 40 }, (_, n) => sluice.enqueue(work, { n })));
    for (const { id } of tasks) await sluice.ended(id);
    await worker.stop();
    await sluice.close();
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n));
  });

  test("a close tells who waits for an end at once, and leaves no call open", async () => {
    const work = task({ id: "work", run: () => 1 });
    const app = defineApp({ tasks: [work] });
    const waited = await connect({ store: pooler.url, app });
    const { id } = await waited.enqueue(work, undefined);
    expect(await closedWhileWaiting(waited, id)).toBe("CLOSED");
    const called = await connect({ store: pooler.url, app });
    await called.list();
    const calls = [
      () => called.list(),
      () => called.enqueue(work, undefined),
      () => called.changes().begin(),
    ];
    expect(await closedAtOnce(called, calls)).not.toContain("open");
  });

  test("each transaction has our settings, and leaves none to others", async () => {
    const { settings } = await opened({ url: pooler.url }).inspect();
    expect(settings).toMatchObject({
      pooler: "on",
      jit: "off",
      enable_seqscan: "off",
      plan_cache_mode: "force_generic_plan",
      idle_in_transaction_session_timeout: "1000",
      lock_timeout: "3000",
      transaction_isolation: "read committed",
    });
    const others = new pg.Pool({ connectionString: pooler.url, max: 4 });
    const found = await Promise.all(
      Array.from({ length: 4 }, async () => (await others.query("SHOW plan_cache_mode")).rows[0]),
    );
    await others.end();
    expect(new Set(found.map((row) => row?.plan_cache_mode))).toEqual(new Set(["auto"]));
  });

  test("a doctor finds nothing wrong, and says what the pooler costs", async () => {
    const store = opened({ url: pooler.url });
    for (const name of ["durability", "locks", "speed"])
      expect(await checkOf(store, name)).toMatchObject({ verdict: "ok" });
    expect((await checkOf(store, "speed"))?.says).toMatch(/^a pooler is in between/);
  });

  test("a store that is told there is none learns better: from a refusal, from a doctor or from an error", async () => {
    const store = opened({ url: pooler.url, pooler: false, sleep: async () => {} });
    const words = lines.length === 0 ? /unsupported startup parameter/ : /pooler: true/;
    const told = async (): Promise<string> => {
      const speed = await checkOf(store, "speed");
      return JSON.stringify(speed?.findings);
    };
    expect(await told().catch((error: Error) => error.message)).toMatch(words);
  });

  test("who connects to the server itself is not taken for one behind a pooler", async () => {
    const { settings } = await opened({ url: direct }).inspect();
    expect(settings).toMatchObject({ pooler: "off", jit: "off" });
  });
}
