/** One suite for all stores: what each of them promises, in sentences. */
import { afterEach, describe } from "vitest";
import type { Success } from "../../core/schedule/automation.ts";
import type { Store } from "../../store/store.ts";
import { FakeClock } from "../clock.ts";
import { advanceSuite } from "./advance.ts";
import { appSuite } from "./apps.ts";
import { asideSuite } from "./aside.ts";
import { Bench } from "./bench.ts";
import { byHandSuite } from "./by-hand.ts";
import { enqueueSuite } from "./enqueue.ts";
import { fanOutSuite } from "./fan-out.ts";
import { feedSuite } from "./feed.ts";
import { fencingSuite } from "./fencing.ts";
import { inspectSuite } from "./inspect.ts";
import { keySuite } from "./keys.ts";
import { laneSuite } from "./lanes.ts";
import { leaseSuite } from "./leases.ts";
import { limitSuite } from "./limits.ts";
import { lineSuite } from "./lines.ts";
import { passSuite } from "./pass.ts";
import { readSuite } from "./reads.ts";
import { recoverySuite } from "./recovery.ts";
import { runSuite } from "./runs.ts";
import { sessionSuite } from "./sessions.ts";
import { settleSuite } from "./settle.ts";
import { steeringSuite } from "./steering.ts";
import { stoppingSuite } from "./stopping.ts";
import { tendSuite } from "./tend.ts";
import { triggerSuite } from "./triggers.ts";

export interface StoreSuiteOptions {
  /** Sets the limit in force behind the store's back, as an operator's plain UPDATE does. */
  readonly setLimitDirectly?: (store: Store, key: string, limit: number) => Promise<void>;
  /** Writes down that a workflow has succeeded, as if a run of it had ended. */
  readonly succeedDirectly?: (store: Store, success: Success) => Promise<void>;
}

/** `open` gives an empty store with its schema; it takes the clock's now for every clock that it has. */
export function describeStore(
  name: string,
  open: (clock: FakeClock) => Promise<Store>,
  options: StoreSuiteOptions = {},
): void {
  describe(name, () => {
    const opened: Store[] = [];
    const fresh = async (): Promise<Bench> => {
      const clock = new FakeClock();
      const store = await open(clock);
      opened.push(store);
      return new Bench(store, clock);
    };
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });
    describe("enqueue", () => enqueueSuite(fresh));
    describe("an idempotency key", () => keySuite(fresh));
    describe("a pass", () => passSuite(fresh));
    describe("a report", () => settleSuite(fresh));
    describe("recovery", () => recoverySuite(fresh));
    describe("a holder whose claim another has by now", () => fencingSuite(fresh));
    describe("by hand", () => byHandSuite(fresh));
    describe("a limit", () => limitSuite(fresh, options));
    describe("an app", () => appSuite(fresh, options));
    describe("a lane", () => laneSuite(fresh));
    describe("a lane set aside", () => asideSuite(fresh));
    describe("tending", () => tendSuite(fresh));
    describe("a session", () => sessionSuite(fresh));
    describe("a trigger", () => triggerSuite(fresh, options));
    describe("reading", () => readSuite(fresh));
    describe("an inspection", () => inspectSuite(fresh));
    describe("a run", () => runSuite(fresh));
    describe("advancing", () => advanceSuite(fresh));
    describe("a step over a list", () => fanOutSuite(fresh));
    describe("steering", () => steeringSuite(fresh));
    describe("code that is stopping", () => stoppingSuite(fresh));
    describe("a lease of one's own", () => leaseSuite(fresh));
    describe("a line", () => lineSuite(fresh));
    describe("the feed", () => feedSuite(fresh));
  });
}
