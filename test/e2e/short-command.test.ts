// A process opens the store, cancels a task and exits at once. The worker learns of it by the hint, not by
// its heartbeat.

import { once } from "node:events";
import { expect, test } from "vitest";
import { connect, defineApp, task } from "../../src/index.ts";
import { deferred } from "./support/deferred.ts";
import { describeOn } from "./support/places.ts";

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("a cancel reaches the code at once, from whoever leaves right after it", {
    timeout: 60_000,
  }, async () => {
    const began = deferred<void>();
    const told = deferred<void>();
    const work = task({
      id: "work",
      run: async (_: unknown, { signal }) => {
        began.resolve();
        await once(signal, "abort");
        told.resolve();
      },
    });
    // Only the hint can tell the worker within this test.
    const app = defineApp({ tasks: [work], claimLease: "1h", session: { lease: "1h", heartbeat: "20m" } });
    const store = (await place.open()) as string;
    await using sluice = await connect({ store, app, migrate: true });
    const worker = await sluice.worker({ poll: "20m", grace: "1s" });
    const { id } = await sluice.enqueue(work, {});
    await began.promise;

    const brief = await connect({ store });
    // An earlier hint delays the cancel's own hint for a moment, as in any command that does two things.
    brief.store.hint("work");
    await brief.cancel(id);
    await brief.close();

    await told.promise;
    await worker.stop();
    expect((await sluice.get(id))?.state).toBe("cancelled");
  });
});
