// A rerun hears the signals that the runs before it missed, and takes none twice.

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Reference } from "../../src/index.ts";
import { workflow } from "../../src/index.ts";
import { describeOn } from "../e2e/support/places.ts";
import { working } from "../runs/support/world.ts";

const paying = workflow({
  id: "paying",
  steps: (s, order: Reference<string>) => {
    const options = { match: { order }, timeout: "30ms" } as const;
    const first = s.waitFor("first", "paid", options);
    s.waitFor("second", "paid", { ...options, after: [first] });
  },
});
const nested = workflow({
  id: "nested",
  steps: (s, order: Reference<string>) => {
    s.run("paying", paying, order);
  },
});

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test.each([paying, nested])("a late signal is heard by the rerun, once ($id)", async (main) => {
    const sluice = await working(place, { tasks: [], workflows: [paying, nested] });
    const ended = async (id: string) => (await sluice.runs.ended(id)).state;
    const stepsOf = async (id: string) => {
      const run = await sluice.runs.get(id);
      const child = main === nested ? await sluice.runs.get(run?.steps[0]?.unit ?? "") : run;
      return child?.steps.map(({ state }) => state);
    };
    const { id } = await sluice.submit(main, "a");
    expect(await ended(id)).toBe("failed");
    await sluice.signal("paid", { order: "a", n: 1 });
    // Its first step takes the signal, and nothing is left for its second one.
    const { id: second } = await sluice.runs.rerun(id);
    expect(await ended(second)).toBe("failed");
    expect(await stepsOf(second)).toEqual(["succeeded", "failed"]);
    // The first step is kept, so the signal that it took is not taken again.
    const { id: third } = await sluice.runs.rerun(second);
    expect(await ended(third)).toBe("failed");
    await sluice.signal("paid", { order: "a", n: 2 });
    // A clock may give both the same millisecond.
    await sleep(5);
    const { id: fresh } = await sluice.runs.rerun(id, { all: true });
    expect(await ended(fresh)).toBe("failed");
    expect(await stepsOf(fresh)).toEqual(["failed", "skipped"]);
    const { id: fourth } = await sluice.runs.rerun(third);
    expect(await ended(fourth)).toBe("succeeded");
  });
});
