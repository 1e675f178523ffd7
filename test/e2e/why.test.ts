// Why does a task wait? Every gate in its way is named, the named remedy works, and the wait is remembered.

import { describe, expect, onTestFinished, test } from "vitest";
import type { Explanation, Sluice, WorkerSettings } from "../../src/index.ts";
import { callOf, connect } from "../../src/index.ts";
import type { Aside } from "../conformance/tables.ts";
import { openWitness } from "../support/open-witness.ts";
import type { Witness } from "../support/witness.ts";
import { Visitor } from "../support/witness.ts";
import { appNamed } from "../support/worker-apps.ts";
import type { Errand } from "./support/apps.ts";
import type { Place } from "./support/places.ts";
import { describeOn } from "./support/places.ts";
import { until } from "./support/until.ts";

const POLL_MS = 500;
const POLL: WorkerSettings = { poll: `${POLL_MS}ms`, pollJitter: "0ms" };
/** Allows for a busy machine. */
const SLACK_MS = 2_000;

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("two gates in the way are both named; lifting one leaves the other; lifting both lets it run", async () => {
    const { sluice, witness, send } = await open(place);
    const holder = await send("narrow", { hold: true });
    const gpus = [
      await send("wide", { hold: true, pools: { gpu: 1 } }),
      await send("wide", { hold: true, pools: { gpu: 1 } }),
    ];
    await sluice.worker(POLL);
    await witness.until((seen) => seen.inside.length === 3, "both gates are full");
    const ahead = await send("narrow", { hold: true, pools: { gpu: 1 } });
    const id = await send("narrow", { hold: true, pools: { gpu: 1 } });
    await until(async () => (await sluice.explain(id)).waits.length > 0, "a pass has seen it wait");

    const both = await sluice.explain(id);
    expect(both).toMatchObject({ id, name: "narrow", queue: "narrow", state: "waiting" });
    expect(byGate(both)).toMatchObject({
      "queue:narrow": {
        kind: "full",
        limit: 1,
        held: 1,
        asked: 1,
        ahead: 1,
        holders: [{ unit: holder, name: "narrow", slots: 1 }],
      },
      "pool:gpu": {
        kind: "full",
        limit: 2,
        held: 2,
        asked: 1,
        ahead: 1,
        holders: gpus.map((unit) => ({ unit, name: "wide", slots: 1 })),
      },
    });
    expect(both.reasons).toHaveLength(2);
    const sentences = both.sentences.map(
      ({ text, remedies }) => `${text.replaceAll(/ for \d+m?s/g, "")} → ${remedies.map(callOf)}`,
    );
    expect(sentences.sort()).toEqual([
      `pool "gpu" is full: 2 of 2 slots held (by ${gpus.map((gpu) => `${gpu} wide`).join(", ")}), 1 waiting ahead → sluice.limits.set("pool:gpu", 4)`,
      `queue "narrow" is full: 1 of 1 slots held (by ${holder} narrow), 1 waiting ahead → sluice.limits.set("queue:narrow", 3)`,
    ]);
    expect(await sluice.explain(ahead)).toMatchObject({ reasons: [{ ahead: 0 }, { ahead: 0 }] });

    await sluice.limits.set("queue:narrow", 10);
    const one = await sluice.explain(id);
    expect(one.reasons).toMatchObject([{ kind: "full", gate: "pool:gpu", held: 2, limit: 2, ahead: 1 }]);
    await until(
      async () => (await sluice.explain(id)).waits.length > 1,
      "a pass has seen it wait for that alone",
    );
    expect(witness.startsOf(id)).toEqual([]);

    await sluice.limits.set("pool:gpu", 4);
    await witness.until((seen) => seen.startsOf(id).length > 0, "it runs", POLL_MS + SLACK_MS);
    await until(async () => (await sluice.get(id))?.state === "running", "it is reported that it has begun");
    const after = await sluice.explain(id);
    expect(after).toMatchObject({ state: "running", reasons: [], sentences: [] });
    // The history keeps each gate it waited for, with its time.
    expect(after.waits.map(({ gates }) => gates)).toEqual([["pool:gpu", "queue:narrow"], ["pool:gpu"]]);
    const [first, second] = after.waits as [Explanation["waits"][number], Explanation["waits"][number]];
    expect(second.fromMs).toBe(first.fromMs + first.forMs);
    const { createdAt, at } = (await sluice.get(id)) as { createdAt: number; at: number };
    expect(first.fromMs).toBeGreaterThanOrEqual(createdAt);
    expect(second.fromMs + second.forMs).toBe(at);
    witness.letGo();
    await until(async () => (await sluice.get(id))?.state === "succeeded", "it is done");
    expect((await sluice.explain(id)).waits).toEqual(after.waits);
  });

  test("0 pauses: what runs goes on, what waits says so, and it starts when there is a limit again", async () => {
    const { sluice, witness, send } = await open(place);
    const running = await send("wide", { hold: true });
    await sluice.worker(POLL);
    await witness.until((seen) => seen.inside.length === 1, "one runs");
    expect(await sluice.limits.set("queue:wide", 0, "kim")).toEqual({ from: -1, limit: 0 });
    const id = await send("wide", {});
    const other = await send("narrow", {});
    await witness.until((seen) => seen.startsOf(other).length > 0, "another queue goes on");
    expect(await sluice.explain(id)).toMatchObject({
      state: "waiting",
      reasons: [{ kind: "paused", gate: "queue:wide", ahead: 0 }],
      sentences: [
        {
          text: 'queue "wide" is paused by its limit of 0',
          remedies: [{ action: "resetLimit", gate: "queue:wide" }],
        },
      ],
    });
    expect(await limit(sluice, "queue:wide")).toMatchObject({
      limit: 0,
      held: 1,
      source: "operator",
      setBy: "kim",
    });
    witness.letGo(running);
    await until(async () => (await sluice.get(running))?.state === "succeeded", "what ran has finished");
    expect(witness.startsOf(id)).toEqual([]);
    await sluice.limits.reset("queue:wide");
    await witness.until((seen) => seen.startsOf(id).length > 0, "it runs");
    expect(await limit(sluice, "queue:wide")).toMatchObject({ limit: -1, setBy: null });
  });

  test("lowering evicts nobody: the gate drains, says so, and admits again below its limit", async () => {
    const { sluice, witness, send } = await open(place);
    const [a, b] = [
      await send("wide", { hold: true, pools: { gpu: 1 } }),
      await send("wide", { hold: true, pools: { gpu: 1 } }),
    ];
    await sluice.worker(POLL);
    await witness.until((seen) => seen.sum("pool:gpu") === 2, "both run");
    await sluice.limits.set("pool:gpu", 1);
    const id = await send("wide", { pools: { gpu: 1 } });
    const [sentence] = (await sluice.explain(id)).sentences;
    expect(sentence?.text).toContain('pool "gpu" is draining: 2 of 1 held (by ');
    expect(await limit(sluice, "pool:gpu")).toMatchObject({ limit: 1, held: 2, draining: true });
    witness.letGo(a);
    await until(async () => (await limit(sluice, "pool:gpu"))?.held === 1, "one has left");
    expect(await sluice.explain(id)).toMatchObject({ reasons: [{ kind: "full", held: 1, limit: 1 }] });
    expect(await limit(sluice, "pool:gpu")).toMatchObject({ draining: false });
    expect(witness.inside.map((visit) => visit.id)).toEqual([b]);
    witness.letGo(b);
    await witness.until((seen) => seen.startsOf(id).length > 0, "it runs");
    expect(witness.peak("pool:gpu")).toBe(2);
  });

  test("nobody there to run it is a reason, and so is that all who could are busy", async () => {
    const { sluice, witness, send } = await open(place);
    const id = await send("wide", { hold: true });
    const alone = await sluice.explain(id);
    expect(alone.reasons).toEqual([{ kind: "noWorker", queue: "wide", name: "wide", apps: ["sluice"] }]);
    expect(alone.sentences).toEqual([
      {
        text: 'no live worker serves queue "wide" and knows task "wide", which is a task of app "sluice"',
        remedies: [{ action: "startWorker", queue: "wide" }],
      },
    ]);
    await sluice.worker({ ...POLL, slots: 1, queues: ["wide"] });
    await witness.until((seen) => seen.inside.length === 1, "it runs");
    const behind = [];
    for (let index = 0; index < 4; index += 1) behind.push(await send("wide", {}));
    const last = behind[3] as string;
    await until(async () => (await sluice.get(last))?.state === "waiting", "it waits");
    expect(await sluice.explain(last)).toMatchObject({
      reasons: [{ kind: "busy", workers: 1, slots: 1, ahead: 3 }],
      sentences: [{ text: "every worker that serves it is busy: 1 worker, 1 slot, 3 waiting ahead" }],
    });
    const elsewhere = await send("narrow", {});
    expect((await sluice.explain(elsewhere)).reasons).toEqual([
      { kind: "noWorker", queue: "narrow", name: "narrow", apps: ["sluice"] },
    ]);
    witness.letGo();
    await witness.until((seen) => seen.startsOf(last).length > 0, "it runs");
  });

  test("a limit that is too small by now says what to set", async () => {
    const { sluice, witness, send } = await open(place);
    await sluice.worker(POLL);
    await send("wide", { pools: { gpu: 2 }, hold: true });
    await witness.until((seen) => seen.inside.length === 1, "one runs");
    const id = await send("wide", { pools: { gpu: 2 } });
    await sluice.limits.set("pool:gpu", 1);
    expect(await sluice.explain(id)).toMatchObject({
      reasons: [{ kind: "never", gate: "pool:gpu", asked: 2, limit: 1 }],
      sentences: [{ remedies: [{ action: "setLimit", gate: "pool:gpu", limit: 4 }] }],
    });
    // The limit covers what is held and what the task asks, so the task starts beside the running one.
    await sluice.limits.set("pool:gpu", 4);
    await witness.until((seen) => seen.startsOf(id).length > 0, "it runs");
  });
});

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  describe("a limit changed by plain SQL", () => {
    test("takes effect within one poll, up and down", async () => {
      const { sluice, witness, send, beside } = await open(place);
      for (let index = 0; index < 3; index += 1) await send("narrow", { hold: true });
      await sluice.worker(POLL);
      await witness.until((seen) => seen.sum("queue:narrow") === 1, "one runs");
      await beside.query("UPDATE sluice_gate SET capacity = 2 WHERE name = 'queue:narrow'");
      await witness.until((seen) => seen.sum("queue:narrow") === 2, "another runs", POLL_MS + SLACK_MS);
      expect(await limit(sluice, "queue:narrow")).toMatchObject({ limit: 2, source: "sql" });
      await beside.query("UPDATE sluice_gate SET capacity = 0 WHERE name = 'queue:narrow'");
      const last = await send("narrow", {});
      expect((await sluice.explain(last)).reasons).toMatchObject([
        { kind: "paused", gate: "queue:narrow", ahead: 1 },
      ]);
      witness.letGo();
      await until(
        async () => (await sluice.list({ state: "succeeded" })).length === 2,
        "those that ran are done",
      );
      const other = await send("wide", {});
      await witness.until((seen) => seen.startsOf(other).length > 0, "another queue goes on");
      expect(witness.starts).toHaveLength(3);
      await beside.query("UPDATE sluice_gate SET capacity = -1 WHERE name = 'queue:narrow'");
      await witness.until((seen) => seen.startsOf(last).length > 0, "the rest runs", POLL_MS + SLACK_MS);
    });

    test("can be taken away: then nobody is admitted, and the reason says what to set", async () => {
      const { sluice, witness, send, beside } = await open(place);
      await beside.query("UPDATE sluice_gate SET capacity = NULL WHERE name = 'pool:gpu'");
      const id = await send("wide", { pools: { gpu: 1 } });
      const other = await send("wide", {});
      await sluice.worker(POLL);
      await witness.until((seen) => seen.startsOf(other).length > 0, "another runs");
      expect(await sluice.explain(id)).toMatchObject({
        reasons: [{ kind: "unset", gate: "pool:gpu" }],
        sentences: [
          {
            text: 'pool "gpu" has no limit yet, so it admits nothing',
            remedies: [{ action: "setLimit", gate: "pool:gpu", limit: 1 }],
          },
        ],
      });
      await sluice.limits.set("pool:gpu", 1);
      await witness.until((seen) => seen.startsOf(id).length > 0, "it runs");
    });

    test("bounds a queue that had no limit before, however many workers believe otherwise", async () => {
      const { sluice, witness, send, beside } = await open(place);
      const first = await send("wide", {});
      await sluice.worker(POLL);
      await until(async () => (await sluice.get(first))?.state === "succeeded", "it knows the queue");
      await beside.query("UPDATE sluice_gate SET capacity = 2 WHERE name = 'queue:wide'");
      const ids = [];
      for (let index = 0; index < 5; index += 1) ids.push(await send("wide", { hold: true }));
      await witness.until((seen) => seen.sum("queue:wide") === 2, "two run");
      expect((await sluice.explain(ids[4] as string)).reasons).toMatchObject([
        { kind: "full", gate: "queue:wide", limit: 2, held: 2, ahead: 2 },
      ]);
      witness.letGo();
      await until(async () => (await sluice.list({ state: "succeeded" })).length === 6, "all are done");
      expect(witness.peak("queue:wide")).toBe(2);
    });

    test("reaches lanes that were set aside because there are so many of them", async () => {
      const { sluice, witness, send, beside } = await open(place);
      const holder = await send("wide", { hold: true, pools: { gpu: 2 } });
      await sluice.worker({ ...POLL, slots: 100 });
      await witness.until((seen) => seen.inside.length === 1, "the pool is full");
      const lanes = 80;
      const ids = await Promise.all(
        Array.from({ length: lanes }, (_, tenant) =>
          send("wide", { pools: { [`tenant=${tenant}`]: 1, gpu: 1 } }),
        ),
      );
      await until(async () => {
        const [row] = await beside.query(
          "SELECT count(*) AS parked FROM sluice_lane WHERE parked = 'pool:gpu'",
        );
        return Number(row?.parked) >= 10;
      }, "the lanes are parked");
      expect(witness.starts).toHaveLength(1);
      await beside.query("UPDATE sluice_gate SET capacity = 200 WHERE name = 'pool:gpu'");
      await witness.until(
        (seen) => ids.some((id) => seen.startsOf(id).length > 0),
        "the first runs",
        POLL_MS + SLACK_MS,
      );
      await witness.until((seen) => ids.every((id) => seen.startsOf(id).length > 0), "all run");
      witness.letGo(holder);
    });
  });
});

interface Opened {
  readonly sluice: Sluice;
  readonly witness: Witness;
  readonly beside: Aside;
  send(queue: "narrow" | "wide", errand: Errand): Promise<string>;
}

/** A new store with the app, and a witness. All of it ends with the test. */
async function open(place: Place): Promise<Opened> {
  const witness = await openWitness();
  const visitor = await Visitor.connect(witness.port, "here");
  const where = await place.open();
  const sluice = await connect({ store: where, app: appNamed("why", visitor), migrate: true });
  await sluice.deploy();
  onTestFinished(async () => {
    witness.letGo();
    await sluice.close();
  });
  const beside =
    typeof where === "string"
      ? await place.beside(where)
      : { query: () => Promise.reject(new Error("no SQL")), close: async () => {} };
  onTestFinished(() => beside.close());
  const send: Opened["send"] = async (queue, errand) =>
    (await sluice.enqueue({ id: queue } as never, errand as never)).id;
  return { sluice, witness, beside, send };
}

const byGate = ({ reasons }: Explanation) =>
  Object.fromEntries(reasons.flatMap((reason) => ("gate" in reason ? [[reason.gate, reason]] : [])));

const limit = async (sluice: Sluice, key: string) =>
  (await sluice.limits.list()).find((each) => each.key === key);
