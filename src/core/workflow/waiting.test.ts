import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, expectTypeOf, it } from "vitest";
import { checkApp } from "../app/check.ts";
import { ConfigError } from "../error.ts";
import { task } from "../task/definition.ts";
import type { AnyWorkflow } from "./definition.ts";
import { workflow } from "./definition.ts";
import { event } from "./event.ts";
import { graphProblems } from "./problems.ts";
import type { Reference } from "./reference.ts";
import { graphOf } from "./resolve.ts";
import type { Steps } from "./steps.ts";
import { timeOf } from "./time-of.ts";
import type { Approval } from "./waiting.ts";

interface Paid {
  orderId: string;
  amount: number;
  at: Date;
  lines: { sku: string }[];
}

/** A schema that makes a Paid of a text. */
const schema: StandardSchemaV1<string, Paid> = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as never }) },
};
const paid = event({ id: "paid", payload: schema });
const note = task({ id: "note", run: (input: { amount: number }) => input });

const planned = (steps: (s: Steps, input: never) => unknown): AnyWorkflow =>
  workflow({ id: "w", steps: steps as never }) as AnyWorkflow;

const graphs = (steps: (s: Steps, input: never) => unknown) => {
  const made = planned(steps);
  const app = checkApp({ tasks: [note], workflows: [made] });
  return graphOf(made, app, { cpus: 1 });
};

function problems(steps: (s: Steps, input: never) => unknown): string[] {
  try {
    checkApp({ tasks: [note], workflows: [planned(steps)] });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ field, rule }) => `${field}: ${rule}`);
  }
}

describe("a step that waits", () => {
  it("becomes data in the graph", () => {
    const graph = graphs((s, input: { id: string; when: string }) => {
      const nap = s.sleep("nap", "1h30m");
      const monday = s.until("monday", new Date(Date.UTC(2026, 10, 23)), { after: [nap.finished] });
      const then = s.until("then", input.when as never, { mayFail: true });
      const payment = s.waitFor("payment", paid, {
        match: { orderId: input.id, amount: 3 },
        timeout: "2d",
        otherwise: { none: monday.output },
        after: [then],
      });
      s.approve("release", { question: input.when, by: ["ana"] });
      return payment.output;
    });
    const plain = { kind: "wait", each: null, when: null, mayFail: false };
    const on = (step: string, how = "succeeded") => ({ step, on: how });
    const given = (field: string) => ({ $from: ["input", field] });
    expect(graph.steps).toEqual([
      { ...plain, name: "nap", input: null, needs: [], wait: { for: "sleep", ms: 5_400_000 } },
      {
        ...plain,
        name: "monday",
        input: "2026-11-23T00:00:00.000Z",
        needs: [on("nap", "finished")],
        wait: { for: "until" },
      },
      { ...plain, name: "then", input: given("when"), needs: [], wait: { for: "until" }, mayFail: true },
      {
        ...plain,
        name: "payment",
        input: { orderId: given("id"), amount: 3 },
        needs: [on("then"), on("monday")],
        wait: { for: "event", event: "paid", timeoutMs: 172_800_000 },
        otherwise: { none: { $from: ["step", "monday"] } },
      },
      {
        ...plain,
        name: "release",
        input: given("when"),
        needs: [],
        wait: { for: "approval", by: ["ana"], timeoutMs: null },
      },
    ]);
    expect(graph.gates).toEqual([]);
    expect(graphProblems(graph)).toEqual([]);
    expect(graph.output).toEqual({ $from: ["step", "payment"] });
  });

  it("has the type of what it waits for", () => {
    planned((s, input: Reference<{ id: string; maybe?: string; when: number }>) => {
      const payment = s.waitFor("payment", paid, { match: { orderId: input.id } });
      expectTypeOf(payment.output.amount).toEqualTypeOf<Reference<number>>();
      // A payload is stored as JSON, so a Date becomes a text.
      expectTypeOf(payment.output.at).toEqualTypeOf<Reference<string>>();
      expectTypeOf(payment.output.lines[0].sku).toEqualTypeOf<Reference<string>>();
      s.step("note", note, { amount: payment.output.amount });
      const late = s.waitFor("late", paid, { timeout: "1s", otherwise: { reason: input.id } });
      expectTypeOf(late.output).toExtend<
        Reference<
          { reason: string } | { orderId: string; amount: number; at: string; lines: { sku: string }[] }
        >
      >();
      expectTypeOf(s.waitFor("any", "any").output).toEqualTypeOf<Reference<unknown>>();
      expectTypeOf(s.sleep("nap", "1s").output).toEqualTypeOf<Reference<null>>();
      expectTypeOf(s.approve("ok", { question: "?" }).output).toEqualTypeOf<Reference<Approval>>();
      s.until("then", input.when);
      // @ts-expect-error The field must have the type that it has in the payload.
      s.waitFor("wrong", paid, { match: { orderId: 3 } });
      // @ts-expect-error A value that may be missing matches nothing.
      s.waitFor("maybe", paid, { match: { orderId: input.maybe } });
      // @ts-expect-error The payload has no such field.
      s.waitFor("unknown", paid, { match: { order: "a" } });
      // @ts-expect-error An approval asks something.
      s.approve("nothing", {});
      return null;
    });
  });

  it.each<[string, (s: Steps, input: never) => unknown, string]>([
    ["a duration", (s) => s.sleep("nap", "soon"), 'w.steps.nap.duration: "soon" is not a duration'],
    ["no duration", (s) => s.sleep("nap", undefined as never), "w.steps.nap.duration: must be set"],
    ["a time", (s) => s.until("x", "tomorrow"), 'w.steps.x.time: must be a time, but is "tomorrow"'],
    ["a zone", (s) => s.until("x", "2026-11-19T08:00:00"), "w.steps.x.time: must be a time"],
    ["a date", (s) => s.until("x", new Date(Number.NaN)), 'w.steps.x.time: must be a time, but is ""'],
    ["an event", (s) => s.waitFor("x", 3 as never), "w.steps.x.event: must be an event, but is 3"],
    ["an event's id", (s) => s.waitFor("x", "a b"), `w.steps.x.event: "a b" cannot be an event's id`],
    [
      "an event's schema",
      (s) => s.waitFor("x", { id: "e", payload: {} } as never),
      "w.steps.x.event.payload: must be a Standard Schema",
    ],
    [
      "a match that is a reference",
      (s, input) => s.waitFor("x", "e", { match: input }),
      "w.steps.x.match: must be an object with a value for each field",
    ],
    [
      "a match of lists",
      (s) => s.waitFor("x", "e", { match: { a: [1] as never } }),
      "w.steps.x.match.a: must be a text, a number, true or false, but is a list",
    ],
    [
      "a timeout",
      (s) => s.waitFor("x", "e", { timeout: "0ms" }),
      "w.steps.x.timeout: must be longer than 0ms",
    ],
    [
      "otherwise without a timeout",
      (s) => s.waitFor("x", "e", { otherwise: 1 }),
      "w.steps.x.otherwise: would never be used, because the step has no timeout",
    ],
    [
      "a misspelt option",
      (s) => s.approve("x", { question: "?", tiemout: "1s" } as never),
      "w.steps.x.tiemout: is not a known field",
    ],
    ["a retry", (s) => s.sleep("x", "1s", { retry: {} } as never), "w.steps.x.retry: is not a known field"],
    [
      "mayFail",
      (s) => s.sleep("x", "1s", { mayFail: 1 as never }),
      "w.steps.x.mayFail: must be true or false",
    ],
    [
      "a question",
      (s) => s.approve("x", { question: " " }),
      'w.steps.x.question: must be a text, but is " "',
    ],
    [
      "nobody",
      (s) => s.approve("x", { question: "?", by: [] }),
      "w.steps.x.by: must be a list of names, but is empty",
    ],
    ["a name", (s) => s.approve("x", { question: "?", by: [""] }), "w.steps.x.by[0]: must not be empty"],
    ["an item", (s) => s.each("e", [1], note, { input: (item) => s.sleep("x", item as never) as never }), ""],
  ])("refuses %s that makes no sense", (_, steps, problem) => {
    if (problem === "") expect(() => problems(steps)).toThrow();
    else expect(problems(steps)).toEqual([expect.stringContaining(`workflows.${problem}`)]);
  });

  it("refuses two events with one id and different schemas", () => {
    const other = event({ id: "paid", payload: { ...schema } });
    expect(problems((s) => [s.waitFor("a", paid).output, s.waitFor("b", other).output])).toEqual([
      'workflows.w.steps.b.event: another event with the id "paid" has a different schema',
    ]);
    expect(problems((s) => [s.waitFor("a", paid).output, s.waitFor("b", "paid").output])).toEqual([]);
  });
});

describe("a reference", () => {
  const when = "has no value until a run exists";
  it.each<[string, string, (s: Steps, input: { d: never; work: never }) => unknown]>([
    ["the duration of a sleep", "a.duration", (s, input) => s.sleep("a", input.d)],
    ["the timeout of a signal", "a.timeout", (s, input) => s.waitFor("a", "paid", { timeout: input.d })],
    [
      "the timeout of an approval",
      "a.timeout",
      (s, input) => s.approve("a", { question: "?", timeout: input.d }),
    ],
    [
      "the timeout of a step",
      "a.timeout",
      (s, input) => s.step("a", note, { amount: 1 }, { timeout: input.d }),
    ],
    ["a priority", "a.priority", (s, input) => s.step("a", note, { amount: 1 }, { priority: input.d })],
    [
      "a delay",
      "a.retry.delay",
      (s, input) => s.step("a", note, { amount: 1 }, { retry: { delay: input.d } }),
    ],
    [
      "attempts",
      "a.retry.attempts",
      (s, input) => s.step("a", note, { amount: 1 }, { retry: { attempts: input.d } }),
    ],
    ["slots", "a.pools.p", (s, input) => s.step("a", note, { amount: 1 }, { pools: { p: input.d } })],
    [
      "the timeout of a group",
      "a.timeout",
      (s, input) => s.group("a", { timeout: input.d }, (g) => g.sleep("b", "1s")),
    ],
    [
      "a parallelism",
      "a.parallelism",
      (s, input) => s.group("a", { parallelism: input.d }, (g) => g.sleep("b", "1s")),
    ],
  ])("as %s is refused by its name", (_, field, steps) => {
    expect(problems(steps as never)).toContainEqual(
      expect.stringMatching(
        new RegExp(`^workflows\\.w\\.steps\\.${field}: .*the reference input\\.d, which ${when}`),
      ),
    );
  });
});

describe("a time", () => {
  it.each<[unknown, number | undefined]>([
    ["2026-11-19", 1_795_046_400_000],
    ["2026-11-19T01:00:00+01:00", 1_795_046_400_000],
    ["2026-11-19T00:00Z", 1_795_046_400_000],
    [1_795_046_400_000, 1_795_046_400_000],
    ["2026-11-19T00:00:00", undefined],
    ["2026-13-19", undefined],
    // JavaScript would read it as the 2nd of March.
    ["2026-02-30", undefined],
    ["2026-02-29T10:00:00Z", undefined],
    ["2028-02-29", 1_835_395_200_000],
    ["2026-04-31T00:00:00+02:00", undefined],
    ["19.11.2026", undefined],
    [1.5, undefined],
    [-1, undefined],
    [null, undefined],
    [{}, undefined],
  ])("%j is %s", (value, ms) => {
    expect(timeOf(value)).toBe(ms);
  });
});
