// A signal and a step that begins to wait for it lock the topic of their event. One of them stops half-way here,
// with its look made but nothing committed. The other must wait for it, and then see what it wrote.

import { expect, onTestFinished, test } from "vitest";
import { LAPSED } from "../../src/store/ports/waiting.ts";
import type { NewSignal, NewWait, RunMove, Signalled, Store } from "../../src/store/store.ts";
import type { Aside } from "../conformance/tables.ts";
import { advance, leaveNews, newRun } from "../runs/support/coordinating.ts";
import type { Stoppable } from "./barrier.ts";
import { stoppable } from "./barrier.ts";
import type { Place } from "./support.ts";
import { describeOn, placeOf, untilWaitingOrOver } from "./support.ts";

/** The flight in which a step begins to wait: it has looked for signals already. */
const BEGINNING = { before: /INSERT INTO sluice_wait / };
/** The flight in which a signal writes its answers: it has looked for steps already. */
const ANSWERING = { before: /INSERT INTO sluice_signal_field / };
const LAPSING = { before: /SET state = late_state/ };
const ENDING = { before: /DELETE FROM sluice_wait / };

const PAID: NewWait = {
  event: { name: "paid", match: [["order", "a"]] },
  until: { afterMs: 600_000 },
  late: { state: "failed", body: '"late"' },
  told: "{}",
};

const KEY = { run: "r", step: "paid" };

const sent = (id: string): NewSignal => ({
  id,
  event: "paid",
  payload: '{"order":"a"}',
  keepMs: 600_000,
  key: null,
});

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    describeTopics(name, "a new event", false);
    describeTopics(name, "a known event", true);

    test("a signal that meets the end of the time changes nothing", async () => {
      const { first, second, aside } = await aWaitOf(name, PAID);
      const stopped = await first.stop(LAPSING);
      const lapse = first.store.lapseWait(KEY);
      await stopped.there;
      const signal = second.signal(sent("s"));
      await untilWaitingOrOver(name, aside, signal);
      await stopped.goOn();
      expect([await lapse, (await signal).woken]).toEqual([true, 0]);
      expect(await answerOf(second)).toEqual({ ...JSON.parse(LAPSED), state: "failed" });
    });

    test("the end of the time that meets a signal changes nothing", async () => {
      const { first, second, aside } = await aWaitOf(name, PAID);
      const stopped = await first.stop(ANSWERING);
      const signal = first.store.signal(sent("s"));
      await stopped.there;
      const lapse = second.lapseWait(KEY);
      await untilWaitingOrOver(name, aside, lapse);
      await stopped.goOn();
      expect([(await signal).woken, await lapse]).toEqual([1, false]);
      expect(await answerOf(second)).toMatchObject({ how: "signal", signal: "s" });
    });

    test("two signals at the same moment answer a step once", async () => {
      const { first, second, aside } = await aWaitOf(name, PAID);
      const stopped = await first.stop(ANSWERING);
      const one = first.store.signal(sent("one"));
      await stopped.there;
      const two = second.signal(sent("two"));
      await untilWaitingOrOver(name, aside, two);
      await stopped.goOn();
      expect([(await one).woken, (await two).woken]).toEqual([1, 0]);
      expect(await answerOf(second)).toMatchObject({ signal: "one" });
    });

    test("two signals with one key at the same moment are one", async () => {
      const { first, second, aside } = await aWaitOf(name, PAID);
      const stopped = await first.stop(ANSWERING);
      const one = first.store.signal({ ...sent("one"), key: "k" });
      await stopped.there;
      const two = second.signal({ ...sent("two"), key: "k" });
      await untilWaitingOrOver(name, aside, two);
      await stopped.goOn();
      expect(await one).toEqual({ id: "one", created: true, woken: 1 });
      expect(await two).toEqual({ id: "one", created: false, woken: 0 });
    });

    test("a signal and the end of the run: no answer is left behind", async () => {
      const { first, second, aside } = await aWaitOf(name, PAID);
      const stopped = await first.stop(ANSWERING);
      const signal = first.store.signal(sent("s"));
      await stopped.there;
      const cancel = second.cancelRun("r", "test");
      await untilWaitingOrOver(name, aside, cancel);
      await stopped.goOn();
      await Promise.all([signal, cancel]);
      expect(await aside.query("SELECT run FROM sluice_wait")).toEqual([]);
      expect(await aside.query("SELECT id FROM sluice_timer")).toEqual([]);
    });

    test("the end of the run and a signal: no answer is left behind", async () => {
      const { first, second, aside } = await aWaitOf(name, PAID);
      const stopped = await first.stop(ENDING);
      const cancel = first.store.cancelRun("r", "test");
      await stopped.there;
      const signal = second.signal(sent("s"));
      await untilWaitingOrOver(name, aside, signal);
      await stopped.goOn();
      await Promise.all([signal, cancel]);
      expect(await aside.query("SELECT run FROM sluice_wait")).toEqual([]);
    });
  });
}

function describeTopics(name: Place["name"], what: string, isKnown: boolean): void {
  test(`a signal that meets the begin of a wait answers it: ${what}`, async () => {
    const { first, second, aside } = await aRun(name, isKnown);
    const stopped = await first.stop(BEGINNING);
    const begin = advance(first.store, () => begins(PAID));
    await stopped.there;
    const signal = second.signal(sent("s"));
    await untilWaitingOrOver(name, aside, signal);
    await stopped.goOn();
    await begin;
    expect(await signal).toMatchObject<Partial<Signalled>>({ woken: 1 });
    expect(await answerOf(second)).toMatchObject({ signal: "s" });
  });

  test(`a wait that begins while a signal is sent takes it: ${what}`, async () => {
    const { first, second, aside } = await aRun(name, isKnown);
    const stopped = await first.stop(ANSWERING);
    const signal = first.store.signal(sent("s"));
    await stopped.there;
    const begin = advance(second, () => begins(PAID));
    await untilWaitingOrOver(name, aside, begin);
    await stopped.goOn();
    await begin;
    expect(await signal).toMatchObject<Partial<Signalled>>({ woken: 0 });
    expect(await answerOf(second)).toMatchObject({ signal: "s" });
  });
}

const begins = (wait: NewWait): Partial<RunMove> => ({
  start: { gates: [], timeoutMs: null },
  steps: [{ name: "paid", state: "open", unit: null, body: null, wait }],
});

async function answerOf(store: Store): Promise<unknown> {
  const answer = (await store.run("r"))?.steps[0]?.wait?.answer;
  return answer ? JSON.parse(answer) : undefined;
}

interface Meeting {
  readonly first: Stoppable;
  readonly second: Store;
  readonly aside: Aside;
}

/** A run in progress with news of it. If the event is known, another step has waited for it before. */
async function aRun(name: Place["name"], isKnown: boolean): Promise<Meeting> {
  const place = await placeOf(name);
  onTestFinished(() => place.close());
  const second = await place.open();
  const first = await stoppable(place);
  const aside = await place.beside();
  if (isKnown) {
    await second.submit([newRun("q", { direct: true })]);
    await advance(second, () => begins(PAID));
    await second.cancelRun("q", "test");
    await advance(second, () => ({}));
  }
  await second.submit([newRun("r", { direct: true })]);
  return { first, second, aside };
}

/** The run waits already. */
async function aWaitOf(name: Place["name"], wait: NewWait): Promise<Meeting> {
  const meeting = await aRun(name, false);
  await advance(meeting.second, () => begins(wait));
  await leaveNews(meeting.second, "r");
  return meeting;
}
