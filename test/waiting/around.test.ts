// What surrounds a step that waits: pause, cancel, rerun, histories, the feed, retention, and code that signals.

import { expect, onTestFinished, test } from "vitest";
import type { ChangeView, Reference, Sluice } from "../../src/index.ts";
import { connect, event, RetryAfter, task, workflow } from "../../src/index.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { statesOf, working } from "../runs/support/world.ts";

const amounts = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value: unknown) => {
      const { amount } = value as { amount?: unknown };
      if (typeof amount === "number") return { value: { amount, currency: "EUR" } };
      return { issues: [{ message: "must be a number", path: ["amount"] }] };
    },
  },
} as const;
const paid = event<{ amount: number }, { amount: number; currency: string }>({
  id: "paid",
  payload: amounts as never,
});
const note = task({ id: "note", run: (input: unknown) => input });
/** No workflow waits for it. */
const x = event({ id: "x" });
let isBroken = true;
const fragile = task({
  id: "fragile",
  run: () => {
    if (isBroken) throw new Error("broken");
    return "mended";
  },
});
const buying = workflow({
  id: "buying",
  steps: (s) => {
    const payment = s.waitFor("payment", paid);
    const nap = s.sleep("nap", "1ms", { after: [payment] });
    const last = s.step("last", fragile, undefined, { after: [nap] });
    return { amount: payment.output.amount, last: last.output };
  },
});

const untilWaiting = (sluice: Sluice, id: string, step: string): Promise<unknown> =>
  until(async () => (await statesOf(sluice, id))[step] === "waiting", `${step} waits`);

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a paused run is answered, and nothing follows until it is resumed", async () => {
    isBroken = false;
    const sluice = await working(place, { tasks: [note, fragile], workflows: [buying] });
    const { id } = await sluice.submit(buying, undefined);
    await untilWaiting(sluice, id, "payment");
    await sluice.runs.pause(id);
    expect(await sluice.signal(paid, { amount: 1 })).toMatchObject({ woken: 1 });
    await until(async () => (await statesOf(sluice, id)).payment === "succeeded", "it is answered");
    expect(await statesOf(sluice, id)).toEqual({ payment: "succeeded", nap: "pending", last: "pending" });
    await sluice.runs.resume(id);
    expect((await sluice.runs.ended(id)).result).toEqual({ amount: 1, last: "mended" });
  });

  test("a rerun takes over the answers, and waits again for what it did not get", async () => {
    isBroken = true;
    const sluice = await working(place, { tasks: [note, fragile], workflows: [buying] });
    const { id } = await sluice.submit(buying, undefined);
    await untilWaiting(sluice, id, "payment");
    await sluice.signal(paid, { amount: 1 });
    expect((await sluice.runs.ended(id)).state).toBe("failed");
    isBroken = false;
    const again = await sluice.runs.ended((await sluice.runs.rerun(id)).id);
    expect(again.result).toEqual({ amount: 1, last: "mended" });
    expect(again.steps.map(({ takenOver }) => takenOver)).toEqual([id, id, undefined]);
    expect(again.steps[0]).toMatchObject({ state: "succeeded", result: { amount: 1, currency: "EUR" } });
    const anew = await sluice.runs.rerun(id, { all: true });
    await untilWaiting(sluice, anew.id, "payment");
    await sluice.runs.cancel(anew.id);
    expect(await statesOf(sluice, anew.id)).toEqual({
      payment: "cancelled",
      nap: "cancelled",
      last: "cancelled",
    });
    expect(await sluice.signal(paid, { amount: 2 })).toMatchObject({ woken: 0 });
  });

  test("its history and the feed tell each wait and each answer", async () => {
    isBroken = false;
    const sluice = await working(place, { tasks: [note, fragile], workflows: [buying] });
    const stop = new AbortController();
    const changes: ChangeView[] = [];
    const feed = sluice.changes({ signal: stop.signal });
    const reading = (async () => {
      for await (const change of feed) changes.push(change);
    })().catch(() => {});
    await feed.begin();
    const { id } = await sluice.submit(buying, undefined);
    await untilWaiting(sluice, id, "payment");
    const sent = await sluice.signal(paid, { amount: 1 });
    await sluice.runs.ended(id);
    const events = (await sluice.runs.events(id)).filter(({ step }) => step === "payment");
    expect(events.map(({ kind, data }) => [kind, data])).toEqual([
      ["StepWaiting", { for: "event", event: "paid", match: {} }],
      ["StepAnswered", { how: "signal", signal: sent.id }],
      ["StepSucceeded", {}],
    ]);
    const told = () =>
      changes
        .flatMap(({ kind, step, run }) => (step === "payment" ? [[kind, run]] : []))
        .map(([kind]) => kind);
    await until(() => told().includes("StepSucceeded"), "the feed tells it");
    expect(told()).toEqual(["StepWaiting", "StepAnswered", "StepSucceeded"]);
    const signals = changes.filter(({ kind }) => kind === "SignalSent");
    expect(signals).toMatchObject([{ subject: "paid", data: { id: sent.id, woken: 1 } }]);
    stop.abort();
    await reading;
  });

  test("a time or a match that makes no sense fails the step and says why", async () => {
    const odd = workflow({
      id: "odd",
      steps: (s, input: Reference<{ when: string; id: string }>) => {
        s.until("until", input.when, { mayFail: true });
        s.waitFor("event", "paid", { match: { id: input.id }, mayFail: true });
        return s.approve("question", { question: input.id });
      },
    });
    const sluice = await working(place, { tasks: [note], workflows: [odd] });
    const { id } = await sluice.submit(odd, { when: "soon" } as never);
    const run = await sluice.runs.ended(id);
    expect(run.state).toBe("failed");
    expect(run.steps.map(({ state, error }) => [state, error?.code])).toEqual(
      Array.from({ length: 3 }, () => ["failed", "BAD_WAIT"]),
    );
    expect(run.steps.map(({ error }) => error?.message)).toEqual([
      expect.stringContaining('step "until": its time must be a text with a time zone'),
      expect.stringContaining('step "event": match.id must be a text, a number, true or false, but is null'),
      expect.stringContaining('step "question": its question must be a text, but is null'),
    ]);
  });

  test("a payload that does not match its schema is refused, also if only its event is named", async () => {
    const sluice = await working(place, { tasks: [note, fragile], workflows: [buying] });
    const wrong = { code: "BAD_SIGNAL", message: expect.stringContaining("amount: must be a number") };
    await expect(sluice.signal(paid, { amount: "1" } as never)).rejects.toMatchObject(wrong);
    await expect(sluice.signal("paid", {})).rejects.toMatchObject(wrong);
    await expect(sluice.signal("", {})).rejects.toMatchObject({ code: "BAD_TEXT" });
    await expect(sluice.signal(x, { big: 1n })).rejects.toMatchObject({ code: "BAD_SIGNAL" });
    await expect(sluice.signal(x, {}, { kep: "1d" } as never)).rejects.toMatchObject({ code: "BAD_OPTIONS" });
    await expect(sluice.signal(x, {}, { keep: "1" })).rejects.toMatchObject({ code: "BAD_DURATION" });
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`f${n}`, n]));
    await expect(sluice.signal(x, many)).rejects.toMatchObject({ code: "BAD_SIGNAL" });
    expect(await sluice.signal(x, { ...many, f100: [100] })).toMatchObject({ created: true });
  });

  test("a name that no workflow waits for is refused, and the event itself is not", async () => {
    const telling = task({
      id: "telling",
      run: async (how: string, { client }) => {
        if (how === "name") return client.signal("piad", {});
        return client.signal(how === "known" ? { id: "paid" } : x, {});
      },
    });
    const sluice = await working(place, { tasks: [note, fragile, telling], workflows: [buying] });
    const unknown = { code: "UNKNOWN_EVENT", message: expect.stringContaining('Did you mean "paid"?') };
    await expect(sluice.signal("piad", {})).rejects.toMatchObject(unknown);
    expect(await sluice.signal(x, {})).toMatchObject({ created: true });
    const end = async (how: string) => sluice.ended((await sluice.enqueue(telling, how)).id);
    expect(await end("name")).toMatchObject({ state: "failed", error: unknown });
    expect(await end("itself")).toMatchObject({ state: "succeeded", result: { created: true } });
    expect(await end("known")).toMatchObject({ state: "failed", error: { code: "BAD_SIGNAL" } });
    const other = await working(place, { tasks: [note] });
    expect(await other.signal("piad", {})).toMatchObject({ created: true });
  });

  test("code sends a signal once for all its attempts", async () => {
    const sending = task({
      id: "sending",
      retry: { attempts: 3, delay: "0ms" },
      run: async (_: unknown, { attempt, client }) => {
        const once = await client.signal("once", { n: 1 }, { key: "k" });
        await client.signal("each", { attempt });
        if (attempt < 3) throw new RetryAfter("0ms");
        return once;
      },
    });
    const counting = workflow({
      id: "counting",
      steps: (s) => {
        const first = s.waitFor("first", "once");
        s.waitFor("second", "once", { timeout: "300ms", otherwise: "none", after: [first] });
        const each = [1, 2, 3].map((attempt) => s.waitFor(`each${attempt}`, "each", { match: { attempt } }));
        return each.map(({ output }) => output);
      },
    });
    const sluice = await working(place, { tasks: [sending], workflows: [counting] });
    const { id } = await sluice.submit(counting, undefined);
    for (const step of ["first", "each1", "each2", "each3"]) await untilWaiting(sluice, id, step);
    const { id: sender } = await sluice.enqueue(sending, {});
    expect((await sluice.ended(sender)).result).toMatchObject({ created: false });
    const run = await sluice.runs.ended(id);
    expect(run.result).toEqual([1, 2, 3].map((attempt) => ({ attempt })));
    expect(run.steps.find(({ name }) => name === "second")?.result).toBe("none");
  });
});

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("a poll deletes signals that are no longer kept", async () => {
    const store = (await place.open()) as string;
    const sluice = await connect({ store, migrate: true });
    onTestFinished(() => sluice.close());
    const aside = await place.beside(store);
    onTestFinished(() => aside.close());
    for (let n = 0; n < 5; n += 1) await sluice.signal("x", { n }, { keep: n < 3 ? "1ms" : "1d" });
    await aside.query("UPDATE sluice_signal SET until_at = until_at - 120000 WHERE until_at < at + 1000");
    await sluice.store.tend();
    expect(await aside.query("SELECT id FROM sluice_signal")).toHaveLength(2);
    expect(await aside.query("SELECT signal_id FROM sluice_signal_field")).toHaveLength(2);
  });
});
