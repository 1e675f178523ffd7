// Any name or value is kept, or refused with a clear error, and honest work goes on. SLUICE_FUZZ_RUNS=200
// searches longer.

import fc from "fast-check";
import { expect, test } from "vitest";
import { describeOn } from "../e2e/support/places.ts";
import { Crew, POLL_MS } from "./crew.ts";
import type { Deed } from "./odd.ts";
import { isClear, KINDS } from "./odd.ts";

const unclear = (deed: string, error: unknown): Error =>
  new Error(`${deed}: not refused clearly: ${String(error).slice(0, 500)}`, { cause: error });

const RUNS = Number(process.env.SLUICE_FUZZ_RUNS ?? 4);
/** The time limit for all runs. Each run does a deed of each kind. */
const PATIENCE_MS = 60_000 + RUNS * 10_000;
/** Honest work may take this long more than the same work on a store without odd names. */
const BOUND_MS = 3 * POLL_MS;

/** The driver lost its connection, because the machine was so busy that a server gave up on us. This says nothing about names. */
const LOST = new Set([
  "25P03",
  "ECONNRESET",
  "PROTOCOL_CONNECTION_LOST",
  "4031",
  "ER_CLIENT_INTERACTION_TIMEOUT",
]);

/** The driver's own code decides, not what we made of it: an error about data may be taken for a lost connection. */
function isExcused(error: unknown): boolean {
  const { cause, code } = error as { cause?: unknown; code?: unknown };
  return cause === undefined || cause === null ? LOST.has(String(code)) : isExcused(cause);
}

/** One deed of each kind, in any order. */
const deedsOfARun: fc.Arbitrary<readonly Deed[]> = fc
  .tuple(fc.tuple(...KINDS), fc.shuffledSubarray([...KINDS.keys()], { minLength: KINDS.length }))
  .map(([deeds, order]) => order.map((at) => deeds[at] as Deed));

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("odd names and values are kept or refused clearly, explained and cancelled, while honest work goes on", {
    timeout: PATIENCE_MS,
  }, async () => {
    await using crew = await Crew.start(await place.open());
    // Whatever delays it too is the machine.
    await using control = await Crew.start(await place.open());
    const { sluice } = crew;
    const made = new Set<string>();
    let refused = 0;
    const does = async (deed: Deed, cancels: boolean): Promise<void> => {
      const done = await deed.do(sluice, crew).catch((error: unknown) => {
        if (!isClear(error) && !isExcused(error)) throw unclear(deed.name, error);
        refused += 1;
        return undefined;
      });
      if (!done) return;
      made.add(done.id);
      await sluice.explain(done.id);
      await sluice.get(done.id);
      if (cancels) await sluice.cancel(done.id, "the fuzzer");
    };
    await fc.assert(
      fc.asyncProperty(deedsOfARun, fc.boolean(), async (deeds, cancels) => {
        for (const [at, deed] of deeds.entries()) await does(deed, cancels === (at % 2 === 0));
        await crew.honest();
      }),
      { numRuns: RUNS, interruptAfterTimeLimit: PATIENCE_MS - 30_000, endOnFailure: true },
    );
    await Promise.all([crew.honest(), control.honest()]);
    expect(crew.longestMs - control.longestMs).toBeLessThan(BOUND_MS);
    // A task delayed for a thousand years stays delayed. Everything else ends.
    for (const id of made) if ((await sluice.get(id))?.state !== "later") await sluice.ended(id);
    expect(await sluice.store.asides()).toEqual([]);
    expect(crew.errors.filter((error) => !isExcused(error))).toEqual([]);
    if (process.env.SLUICE_FUZZ_RUNS)
      console.log(
        `${place.name}: ${RUNS} runs, ${made.size} made, ${refused} refused, ${crew.done} honest tasks, longest gap ${Math.round(crew.longestMs)}ms, elsewhere ${Math.round(control.longestMs)}ms`,
      );
  });
});
