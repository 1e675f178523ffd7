/** The parts of the suite. Each names the ports it needs, and runs for the stores that have them. */
import type { AnyStore, Capabilities, PortName, StoreWith } from "../../store/capabilities.ts";
import { missingVerbs, offers } from "../../store/capabilities.ts";
import type { FakeClock } from "../clock.ts";
import { advanceSuite } from "./advance.ts";
import { appSuite } from "./apps.ts";
import { asideSuite } from "./aside.ts";
import type { Fresh } from "./bench.ts";
import { BASE, Bench } from "./bench.ts";
import { byHandSuite } from "./by-hand.ts";
import { enqueueSuite, noCallerTransactionSuite } from "./enqueue.ts";
import { fanOutSuite } from "./fan-out.ts";
import { feedSuite } from "./feed.ts";
import { feedListenerSuite } from "./feed-listeners.ts";
import { feedOtherSuite } from "./feed-others.ts";
import { feedRunSuite } from "./feed-runs.ts";
import { fencedLeaseSuite, fencingSuite } from "./fencing.ts";
import { gateSuite } from "./gates.ts";
import { handlerSuite, runHandlerSuite } from "./handlers.ts";
import { inLineSinceSuite, inLineSuite } from "./in-line.ts";
import { inspectSuite } from "./inspect.ts";
import { itemEndingSuite } from "./item-endings.ts";
import { itemNewsSuite } from "./item-news.ts";
import { keySuite } from "./keys.ts";
import { laneSuite } from "./lanes.ts";
import { leaseSuite } from "./leases.ts";
import { limitSuite } from "./limits.ts";
import { lineSuite } from "./lines.ts";
import type { StoreSuiteOptions } from "./options.ts";
import { parkingSuite } from "./parking.ts";
import { passSuite } from "./pass.ts";
import { readSuite } from "./reads.ts";
import { recoverySuite } from "./recovery.ts";
import { requestSuite } from "./requests.ts";
import { runSuite } from "./runs.ts";
import { sessionSuite } from "./sessions.ts";
import { setTriggerSuite } from "./set-triggers.ts";
import { settleSuite } from "./settle.ts";
import { sharingSuite } from "./sharing.ts";
import { signalSuite } from "./signals.ts";
import { steeringSuite } from "./steering.ts";
import { stoppingSuite } from "./stopping.ts";
import { swapSuite } from "./swaps.ts";
import { swapAheadSuite } from "./swaps-ahead.ts";
import { tendSuite } from "./tend.ts";
import { treeSuite } from "./trees.ts";
import { triggerSuite } from "./triggers.ts";
import { waitingSuite } from "./waiting.ts";
import { wakeUpSuite } from "./wake-ups.ts";

export interface Opened<S> {
  readonly store: S;
  readonly clock: FakeClock;
}

interface Part {
  readonly title: string;
  /** Why a store is not tested on this part; empty if it is. */
  readonly leftOut: (capabilities: Capabilities) => readonly string[];
  readonly tests: (open: () => Promise<Opened<AnyStore>>, options: StoreSuiteOptions) => void;
}

type Only = "parking" | "no callerTransaction";

function part<P extends PortName>(
  title: string,
  needs: readonly P[],
  tests: (open: () => Promise<Opened<StoreWith<P>>>, options: StoreSuiteOptions) => void,
  only?: Only,
): Part {
  return {
    title,
    leftOut: (capabilities) => [
      ...needs.filter((port) => !capabilities.ports.includes(port)).map((port) => `the port ${port}`),
      ...(only === undefined || isGiven(only, capabilities) ? [] : [only]),
    ],
    tests: (open, options) =>
      tests(async () => {
        const { store, clock } = await open();
        if (!offers(store, needs)) throw lacking(store, needs);
        return { store, clock };
      }, options),
  };
}

const lacking = (store: AnyStore, needs: readonly PortName[]): Error =>
  new Error(`The store lacks ${needs.flatMap((port) => missingVerbs(store, port)).join(", ")}.`);

const isGiven = (only: Only, { parking, callerTransaction }: Capabilities): boolean =>
  only === "parking" ? parking : !callerTransaction;

/** A part that needs a bench: units are put in line, claimed and counted. */
function benchPart<P extends PortName = never>(
  title: string,
  needs: readonly P[],
  tests: (fresh: Fresh<P>, options: StoreSuiteOptions) => void,
  only?: Only,
): Part {
  return part<(typeof BASE)[number] | P>(
    title,
    [...BASE, ...needs],
    (open, options) =>
      tests(async () => {
        const { store, clock } = await open();
        if (!offers(store, BASE) || !offers(store, needs)) throw lacking(store, [...BASE, ...needs]);
        return new Bench(store, clock);
      }, options),
    only,
  );
}

export const PARTS: readonly Part[] = [
  part("a gate", ["gates"], gateSuite),
  part("a wake-up", ["wakeUps"], wakeUpSuite),
  benchPart("enqueue", [], enqueueSuite),
  benchPart("enqueue", [], noCallerTransactionSuite, "no callerTransaction"),
  benchPart("an idempotency key", [], keySuite),
  benchPart("a pass", [], passSuite),
  benchPart("the short way through a pass", ["swaps", "steering"], swapSuite),
  benchPart("the short way with claims made ahead", ["swaps", "steering"], swapAheadSuite),
  benchPart("a report", [], settleSuite),
  benchPart("recovery", [], recoverySuite),
  benchPart("a task that handles a failure", [], handlerSuite),
  benchPart("a task that handles a failure", ["runs", "steering"], runHandlerSuite),
  benchPart("a holder whose claim another has by now", [], fencingSuite),
  benchPart("a holder whose claim another has by now", ["holdings"], fencedLeaseSuite),
  benchPart("by hand", ["steering"], byHandSuite),
  benchPart("a limit", ["declarations", "lines"], limitSuite),
  benchPart("an app", ["declarations", "lines"], appSuite),
  benchPart("a lane", [], laneSuite),
  benchPart("a parked lane", [], parkingSuite, "parking"),
  benchPart("a lane set aside", ["asides", "lines", "inspection", "steering"], asideSuite),
  benchPart("tending", [], tendSuite),
  benchPart("a session", [], sessionSuite),
  benchPart("a trigger", ["triggers", "declarations", "steering", "runs"], triggerSuite),
  benchPart("a trigger set at run time", ["triggers", "declarations", "steering"], setTriggerSuite),
  benchPart("reading", [], readSuite),
  benchPart("an inspection", ["inspection", "steering", "declarations"], inspectSuite),
  benchPart("a run", ["runs", "steering", "inspection", "lines"], runSuite),
  benchPart("advancing", ["runs", "steering"], advanceSuite),
  benchPart("a step over a list", ["runs", "steering"], fanOutSuite),
  benchPart("a step over a list", ["runs", "steering"], itemNewsSuite),
  benchPart("a step over a list", ["runs", "inspection"], itemEndingSuite),
  benchPart("a step that waits", ["runs", "waits", "steering", "inspection"], waitingSuite),
  benchPart("a signal", ["runs", "waits", "steering", "inspection"], signalSuite),
  benchPart("a unit with shared locks", ["runs", "sharing", "steering"], sharingSuite),
  benchPart("a run of a step", ["runs", "steering", "inspection", "holdings"], treeSuite),
  benchPart("steering", ["runs", "steering", "inspection"], steeringSuite),
  benchPart(
    "code that is stopping",
    ["holdings", "steering", "runs", "inspection", "lines", "triggers"],
    stoppingSuite,
  ),
  benchPart("a lease of one's own", ["holdings"], leaseSuite),
  benchPart("a request for a lock", ["requests", "holdings", "inspection"], requestSuite),
  benchPart("a line", ["lines", "declarations", "runs", "holdings", "steering"], lineSuite),
  benchPart("the time in line", [], inLineSinceSuite),
  benchPart("the time in line", ["lines", "runs", "steering"], inLineSuite),
  benchPart("the feed", ["feed", "steering", "asides"], feedSuite),
  benchPart("the feed", ["feed", "runs", "steering"], feedRunSuite),
  benchPart("the feed", ["feed", "declarations", "asides", "triggers", "wakeUps"], feedOtherSuite),
  benchPart("the feed", ["feed"], feedListenerSuite),
];
