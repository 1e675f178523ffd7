// Any name or value is kept, or refused with a clear error, and honest work goes on. SLUICE_FUZZ_RUNS=2000
// searches longer.

import fc from "fast-check";
import { expect, test } from "vitest";
import { isAmbiguous, isConnectionLoss } from "../../src/store/retry.ts";
import { describeOn } from "../e2e/support/places.ts";
import { Crew } from "./crew.ts";
import { deeds, isClear } from "./odd.ts";

const unclear = (deed: string, error: unknown): Error =>
  new Error(`${deed}: not refused clearly: ${String(error).slice(0, 500)}`, { cause: error });

const RUNS = Number(process.env.SLUICE_FUZZ_RUNS ?? 25);
/** The time limit for all runs. Each run is a few round trips. */
const PATIENCE_MS = 60_000 + RUNS * 1_000;

const isLost = (error: unknown): boolean => isAmbiguous(error) || isConnectionLoss(error);

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("odd names and values are kept or refused clearly, explained and cancelled, while honest work goes on", {
    timeout: PATIENCE_MS,
  }, async () => {
    await using crew = await Crew.start(await place.open());
    const { sluice } = crew;
    const made = new Set<string>();
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(deeds, fc.boolean(), async (deed, cancels) => {
        const done = await deed.do(sluice, crew).catch((error: unknown) => {
          if (!isClear(error)) throw unclear(deed.name, error);
          refused += 1;
          return undefined;
        });
        if (done) {
          made.add(done.id);
          await sluice.explain(done.id);
          await sluice.get(done.id);
          if (cancels) await sluice.cancel(done.id, "the fuzzer");
        }
        await crew.honest();
      }),
      { numRuns: RUNS, interruptAfterTimeLimit: PATIENCE_MS - 30_000, endOnFailure: true },
    );
    // A task delayed for a thousand years stays delayed. Everything else ends.
    for (const id of made) if ((await sluice.get(id))?.state !== "later") await sluice.ended(id);
    expect(await sluice.store.asides()).toEqual([]);
    // A connection lost on a busy machine says nothing about names.
    expect(crew.errors.filter((error) => !isLost(error))).toEqual([]);
    if (process.env.SLUICE_FUZZ_RUNS)
      console.log(
        `${place.name}: ${RUNS} runs, ${made.size} made, ${refused} refused, ${crew.done} honest tasks, longest gap ${Math.round(crew.longestMs)}ms`,
      );
  });
});
