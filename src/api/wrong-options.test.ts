// Every call that takes options refuses those it does not know. Callers may not be type-checked.

import { describe, expect, onTestFinished, test } from "vitest";
import { checkApp } from "../core/app/check.ts";
import { workflow } from "../core/workflow/definition.ts";
import { task } from "../index.ts";
import { openMemory } from "../store/memory/index.ts";
import { connect } from "./connect.ts";
import type { Sluice } from "./sluice.ts";

const mail = task({ id: "mail", run: () => 1 });
const order = workflow({ id: "order", steps: (s) => s.step("mail", mail) });
const app = checkApp({ tasks: [mail], workflows: [order] });

type Call = (sluice: Sluice, options: never) => Promise<unknown>;

/** Each call, an option that it does not know, and the one that was meant. */
const CALLS: readonly [name: string, wrong: string, meant: string, call: Call][] = [
  ["connect", "stroe", "store", (_, options) => connect(options)],
  ["worker", "slot", "slots", (sluice, options) => sluice.worker(options)],
  ["worker: cluster", "contxt", "context", (sluice, cluster) => sluice.worker({ cluster })],
  ["list", "sate", "state", (sluice, options) => sluice.list(options)],
  ["ended", "signals", "signal", (sluice, options) => sluice.ended("x", options)],
  ["deploy", "fil", "file", (sluice, options) => sluice.deploy(options)],
  ["close", "grace", "graceMs", (sluice, options) => sluice.close(options)],
  ["stop", "grace", "graceMs", async (sluice, options) => (await sluice.worker()).stop(options)],
  ["enqueueMany", "option", "options", (sluice, call) => sluice.enqueueMany([call])],
  ["runs.list", "tags", "tag", (sluice, options) => sluice.runs.list(options)],
  ["runs.ended", "sinal", "signal", (sluice, options) => sluice.runs.ended("x", options)],
  ["runs.rerun", "al", "all", (sluice, options) => sluice.runs.rerun("x", options)],
  ["runs.items", "limits", "limit", (sluice, options) => sluice.runs.items("x", "mail", options)],
  ["runs.itemEvents", "affter", "after", (sluice, options) => sluice.runs.itemEvents("x", "mail", options)],
  ["queue.list", "limits", "limit", (sluice, options) => sluice.queue.list(options)],
  ["queue.page", "affter", "after", (sluice, options) => sluice.queue.page(options)],
  ["limits.set", "new", "isNew", (sluice, options) => sluice.limits.set("runs", 1, "ann", options)],
  ["pools.set", "leaseMs", "lease", (sluice, options) => sluice.pools.set("db", 1, options)],
];

async function connected(): Promise<Sluice> {
  const sluice = await connect({ store: openMemory(), app });
  onTestFinished(() => sluice.close());
  return sluice;
}

describe.each(CALLS)("%s", (name, wrong, meant, call) => {
  test(`refuses "${wrong}" and suggests "${meant}"`, async () => {
    await expect(call(await connected(), { [wrong]: 3 } as never)).rejects.toMatchObject({
      code: "BAD_OPTIONS",
      message: expect.stringMatching(
        new RegExp(`^${name}: "${wrong}" is not a known option\\..* Known: .*\\b${meant}\\b`),
      ),
    });
  });

  test("refuses a value that is no options, also one without fields", async () => {
    const sluice = await connected();
    const { signal } = new AbortController();
    for (const given of [null, 3, "fast", [], signal, Promise.resolve({}), new Map()])
      await expect(call(sluice, given as never)).rejects.toMatchObject({ code: "BAD_OPTIONS" });
  });
});

describe("connect opens no default store", () => {
  test.each([
    ["a string", "postgres://ann:secret@db/app", 'connect({ store: "…" })'],
    ["a URL", new URL("postgres://ann:secret@db/app"), 'connect({ store: "…" })'],
    ["a store", openMemory(), "connect({ store })"],
    ["an app", app, "connect({ app })"],
  ])("for %s instead of options, and says what to write", async (what, given, instead) => {
    const error = await connect(given as never).catch((failure: unknown) => failure as Error);
    expect(error).toMatchObject({
      code: "BAD_OPTIONS",
      message: `connect takes its options as an object, but got ${what}. Write ${instead}.`,
    });
  });

  test.each([
    { store: new URL("postgres://ann:secret@db/app") },
    { store: 3 },
    { store: null },
    { app: { tasks: [mail] } },
    { app: null },
  ])("for a value that is neither a store nor an app: %j", async (options) => {
    await expect(connect(options as never)).rejects.toMatchObject({
      code: "BAD_OPTIONS",
      message: expect.stringMatching(/^connect: (store|app) must be/),
    });
  });
});

test("connect refuses a store that lacks verbs, and names them with their ports", async () => {
  const { listen: _, follow: __, changes: ___, ...store } = openMemory();
  await expect(connect({ store: store as never })).rejects.toMatchObject({
    code: "BAD_OPTIONS",
    message:
      "connect: store must have every verb of every port, but lacks some of feed (follow, changes), wakeUps (listen).",
  });
});

describe("a list", () => {
  test("of tasks refuses a state that there is not, and suggests one", async () => {
    const sluice = await connected();
    await expect(sluice.list({ state: "wating" as never })).rejects.toMatchObject({
      code: "BAD_OPTIONS",
      message: expect.stringMatching(
        /^list: state must be one of later, waiting, .*, but is "wating"\. Did you mean "waiting"\?$/,
      ),
    });
    await expect(sluice.list({ state: ["waiting"] as never })).rejects.toMatchObject({ code: "BAD_OPTIONS" });
    const { id } = await sluice.enqueue(mail, undefined);
    expect((await sluice.list({ state: "waiting" })).map((each) => each.id)).toEqual([id]);
  });

  test("of runs refuses a state that only tasks have", async () => {
    const sluice = await connected();
    await expect(sluice.runs.list({ state: "waiting" as never })).rejects.toMatchObject({
      code: "BAD_OPTIONS",
      message: expect.stringMatching(/^runs\.list: state must be one of queued, .*, but is "waiting"\./),
    });
    expect(await sluice.runs.list({ state: "queued" })).toEqual([]);
  });
});

describe("what another limit would do", () => {
  test("is not told for a gate that there is not", async () => {
    const sluice = await connected();
    await expect(sluice.queue.whatIf("run", 3)).rejects.toMatchObject({
      code: "UNKNOWN_GATE",
      message: expect.stringContaining("Did you mean runs?"),
    });
    expect(await sluice.queue.whatIf("runs", 3)).toEqual({ starts: [], more: [] });
  });

  test("is not told for a value that is no limit", async () => {
    const sluice = await connected();
    for (const limit of [1.5, -2, "3", undefined])
      await expect(sluice.queue.whatIf("runs", limit as never)).rejects.toMatchObject({ code: "BAD_LIMIT" });
    expect(await sluice.queue.whatIf("runs", null)).toEqual({ starts: [], more: [] });
  });
});

test("the items of a step that the run does not have are refused", async () => {
  const sluice = await connected();
  const { id } = await sluice.submit(order, undefined);
  for (const items of [() => sluice.runs.items(id, "mial"), () => sluice.runs.itemEvents(id, "mial")])
    await expect(items()).rejects.toMatchObject({
      code: "UNKNOWN_STEP",
      message: `run ${id} has no step "mial". Did you mean "mail"?`,
    });
  expect(await sluice.runs.items(id, "mail")).toEqual([]);
});

test("a grace period that is no number of milliseconds is refused, and nothing is closed", async () => {
  const sluice = await connected();
  for (const graceMs of ["5s", -1, Number.NaN])
    await expect(sluice.close({ graceMs: graceMs as never })).rejects.toMatchObject({ code: "BAD_OPTIONS" });
  expect(await sluice.list()).toEqual([]);
});

test("queues that are no list are refused", async () => {
  const sluice = await connected();
  await expect(sluice.worker({ queues: "default" as never })).rejects.toMatchObject({ code: "BAD_OPTIONS" });
});

test("only an ID finds code that is stopping", async () => {
  const sluice = await connected();
  await expect(sluice.stopping({ run: "x" } as never)).rejects.toMatchObject({ code: "BAD_TEXT" });
});
