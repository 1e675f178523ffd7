// A program makes very many calls at once, in the process of its worker.

import { expect, onTestFinished, test } from "vitest";
import { connect, defineApp, task } from "../../src/index.ts";
import { describeOn } from "./support/places.ts";

/** The embedded store answers so quickly that it takes many calls to keep it busy. */
const CALLS: Readonly<Record<string, number>> = { SQLite: 8_000 };

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("the worker goes first: a task starts while most of the calls still wait", async () => {
    let begin = (_: number): void => {};
    const begun = new Promise<number>((resolve) => {
      begin = resolve;
    });
    let pending = 0;
    const quick = task({ id: "quick", run: () => begin(pending) });
    const app = defineApp({ name: "burst", tasks: [quick] });
    const store = (await place.open()) as string;
    const [busy, other] = [await connect({ store, app }), await connect({ store, app })];
    onTestFinished(async () => {
      await Promise.all([busy.close(), other.close()]);
    });
    await busy.worker({ poll: "50ms", pollJitter: "0ms" });
    const calls = Array.from({ length: CALLS[place.name] ?? 1_500 }, async () => {
      pending += 1;
      await busy.list({ limit: 1 });
      pending -= 1;
    });
    await other.enqueue(quick, undefined);
    expect(await begun).toBeGreaterThan(0);
    await Promise.all(calls);
  });

  test("calls that still wait when the connection is closed are refused at once", async () => {
    const store = (await place.open()) as string;
    const sluice = await connect({ store });
    const calls = Array.from({ length: 100 }, () =>
      sluice.list({ limit: 1 }).then(
        () => "ok",
        (error) => error.code,
      ),
    );
    await new Promise((resolve) => setImmediate(resolve));
    await sluice.close();
    // The driver's own line would let them wait for ten seconds.
    const late = new Promise((resolve) => setTimeout(resolve, 8_000, "late").unref());
    const found = await Promise.race([Promise.all(calls), late]);
    expect(new Set(found as string[])).toEqual(
      new Set(["ok", "CLOSED"].filter((each) => (found as string[]).includes(each))),
    );
    expect(found).toHaveLength(100);
  });
});
