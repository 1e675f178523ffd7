import { describe, expect, test } from "vitest";
import { task } from "../../core/task/definition.ts";
import type { Failure } from "../../core/task/failure.ts";
import { ownOptions } from "../../core/task/handler.ts";
import { optionsOfTask } from "../../core/unit-options.ts";
import { DataError } from "../../store/data-error.ts";
import { laneOf } from "../../store/lane.ts";
import { openMemory } from "../../store/memory/index.ts";
import type { NewTask, Store } from "../../store/store.ts";
import type { Report } from "./claims.ts";
import { handlerOf } from "./handler.ts";
import { StoreClaims } from "./store-claims.ts";

const tell = task({
  id: "tell",
  queue: "alarms",
  priority: 3,
  pools: { mail: 2 },
  timeout: "5s",
  goodUntil: "1h",
  run: (_: Failure) => {},
});
const pay = task({ id: "pay", onFailure: tell, run: () => {} });
const options = optionsOfTask(ownOptions(pay, "default"));
const failing = { id: "a", input: '{"order":7}', options, attempt: 2 };
const newId = (): string => "h";

const toldTo = (made: NewTask | undefined): Failure => JSON.parse(made?.input ?? "null");

describe("the task that handles a failure", () => {
  test("is made from what its definition says, and is told what failed", () => {
    const body = '{"name":"TypeError","message":"no such card"}';
    const made = handlerOf(failing, { to: "failed", body }, newId);
    const asks = ["cluster", "queue:alarms"].map((gate) => ({ gate, slots: 1 }));
    expect(made).toMatchObject({
      id: "h",
      name: "tell",
      priority: 3,
      lane: laneOf("alarms", "tell", [...asks, { gate: "pool:mail", slots: 2 }]),
      options: optionsOfTask(ownOptions(tell, "default")),
      key: null,
      runAt: null,
      goodForMs: 3_600_000,
    });
    expect(toldTo(made)).toEqual({
      kind: "task",
      name: "pay",
      id: "a",
      input: { order: 7 },
      state: "failed",
      attempt: 2,
      error: { name: "TypeError", message: "no such card" },
    });
  });

  test.each(["succeeded", "retry", "returned", "waiting", "expired", "cancelled"])(
    "is not made for %s",
    (to) => {
      expect(handlerOf(failing, { to, body: null }, newId)).toBeUndefined();
    },
  );

  test("is not made if nobody handles the failures of that task", () => {
    expect(handlerOf({ ...failing, options: "{}" }, { to: "failed", body: null }, newId)).toBeUndefined();
  });

  test("is told of a task without input, and of one whose row is damaged", () => {
    const inputs = ["", null, "{"].map((input) =>
      toldTo(handlerOf({ ...failing, input }, { to: "quarantined", body: "{" }, newId)),
    );
    for (const told of inputs) {
      expect(told).toMatchObject({ state: "quarantined", error: { name: "Error" } });
      expect(told).not.toHaveProperty("input");
    }
  });
});

const REPORT: Report = {
  finished: [],
  started: [],
  active: 0,
  appetite: 5,
  draining: false,
  hinted: true,
  ownTurn: true,
};

describe("a claimer whose report fails a task", () => {
  const claimed = async (spoil: (body: string | null) => boolean = () => false) => {
    const memory = openMemory();
    const store: Store = {
      ...memory,
      pass: (scope, decide) => {
        const isSpoilt = scope.finished.some((one) => "body" in one && spoil(one.body));
        return isSpoilt ? Promise.reject(new DataError(new Error("too large"))) : memory.pass(scope, decide);
      },
    };
    const hints: string[] = [];
    await store.listen((hint) => hints.push(hint));
    const lane = laneOf("q", "pay", [{ gate: "queue:q", slots: 1 }]);
    const rest = { key: null, runAt: null, delayMs: null, goodUntil: null, goodForMs: null };
    await store.enqueue([{ id: "a", name: "pay", priority: 0, lane, input: "7", options, ...rest }]);
    const seat = { name: "w", slots: 2, prefetch: 0, claimLeaseMs: 60_000, queues: ["q"], tasks: ["pay"] };
    const claims = new StoreClaims(store, seat, { newId });
    await claims.open("s", 60_000);
    await claims.exchange(REPORT);
    const [claim] = (await claims.exchange(REPORT)).claimed;
    hints.length = 0;
    return { store, claims, hints, claim: claim as NonNullable<typeof claim> };
  };

  test("tells workers that there is a task to handle it", async () => {
    const { claims, hints, claim } = await claimed();
    const handler = handlerOf(claim, { to: "failed", body: "{}" }, newId);
    const failed = { id: "a", epoch: claim.epoch, to: "failed", body: "{}", delayMs: 0, handler } as const;
    await claims.exchange({ ...REPORT, finished: [failed] });
    expect(hints).toContain("work");
  });

  test.each([
    ["a result that cannot be stored", (body: string | null) => body === '"huge"', ["h"]],
    [
      "a result that cannot be stored, and neither what its handler is told",
      (body: string | null) => body === '"huge"',
      [],
    ],
  ])("has %s handled, if that is possible", async (what, spoil, handled) => {
    const { store, claims, claim } = await claimed(spoil);
    const enqueues = what.includes("neither");
    const inner = store.pass;
    if (enqueues)
      store.pass = (scope, decide) =>
        scope.finished.some((one) => "handler" in one && one.handler)
          ? Promise.reject(new DataError(new Error("too large")))
          : inner(scope, decide);
    const done = { id: "a", epoch: claim.epoch, to: "succeeded", body: '"huge"', delayMs: 0 } as const;
    await claims.exchange({ ...REPORT, finished: [done] });
    expect(await store.task("a")).toMatchObject({
      state: "failed",
      body: expect.stringContaining("RESULT_NOT_STORED"),
    });
    expect((await store.tasks({ name: "tell", limit: 9 })).map(({ id }) => id)).toEqual(handled);
  });
});
