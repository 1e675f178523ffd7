import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, Source, Template, Values } from "./template.ts";
import { fill, literal, NOTHING, reference, render, sourceOf, sourcesIn, stepsNamedIn } from "./template.ts";

const outputs: Record<string, Json> = { users: { list: [{ id: 7 }], total: 1 }, skipped: null };
const values: Values = { input: { day: "monday" }, output: (step) => outputs[step] ?? null };
const from = (step: string, ...path: string[]): Template => reference({ step, path });

/** JSON in which the keywords of templates are as likely as other words. */
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, false, 0, -1.5, "", "step", "input"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("$from", "$literal", "a", "__proto__", "length"), tie("value"), {
      maxKeys: 3,
    }),
  ),
})).value;

describe("a template", () => {
  it("says any JSON, also what looks like a reference", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.stringify(render(literal(value), values))).toBe(JSON.stringify(value));
        expect(sourcesIn(literal(value))).toEqual([]);
      }),
    );
  });

  it("is the same after it was stored", () => {
    fc.assert(
      fc.property(json, (value) => {
        const stored = JSON.parse(JSON.stringify(literal(value)));
        expect(JSON.stringify(render(stored, values))).toBe(JSON.stringify(value));
      }),
    );
  });

  it("is filled at any depth with outputs and the run's input", () => {
    const template = {
      a: [from("users", "list", "0", "id"), "b"],
      c: { d: reference({ input: true, path: ["day"] }) },
    };
    expect(render(template, values)).toEqual({ a: [7, "b"], c: { d: "monday" } });
    expect(render(from("users", "list", "length"), values)).toBe(1);
  });

  it("leaves out a field whose way leads nowhere, and keeps its place in a list", () => {
    const nowhere = from("users", "nobody", "name");
    expect(render({ a: nowhere, b: [nowhere], c: 1 }, values)).toEqual({ b: [null], c: 1 });
    expect(fill(nowhere, values)).toBeUndefined();
    expect(render(nowhere, values)).toBeNull();
  });

  it("finds only what a value has of its own", () => {
    for (const key of ["constructor", "__proto__", "toString"])
      expect(fill(from("users", key), values), key).toBeUndefined();
  });

  it("has null for the output of a step that has none", () => {
    expect(render({ a: from("skipped") }, values)).toEqual({ a: null });
    expect(render({ a: from("skipped", "by", "name") }, values)).toEqual({ a: null });
    const none = reference({ outcomes: "skipped", path: ["0", "state"] });
    expect(render({ a: none }, { ...values, outcomes: () => null })).toEqual({ a: null });
  });

  it("can be nothing at all", () => {
    expect(fill(NOTHING, values)).toBeUndefined();
    expect(fill(JSON.parse(JSON.stringify(NOTHING)), values)).toBeUndefined();
    expect(sourceOf(NOTHING)).toBeUndefined();
    expect(sourcesIn({ a: NOTHING })).toEqual([]);
  });

  it("is filled with an item and its place, and with how items ended", () => {
    const item = (path: string[] = []) => reference({ item: "value", path });
    const template = [item(), item(["id"]), reference({ item: "index", path: [] })];
    expect(render(template, { ...values, item: { value: { id: 0 }, index: 0 } })).toEqual([{ id: 0 }, 0, 0]);
    expect(render(template, values)).toEqual([null, null, null]);
    const first = reference({ outcomes: "sync", path: ["0", "state"] });
    const outcomes = (step: string): Json => [{ state: `${step} failed` }];
    expect(render([first], { ...values, outcomes })).toEqual(["sync failed"]);
    expect(stepsNamedIn([first, item()])).toEqual(["sync"]);
    for (const each of [first, ...template])
      expect(reference(sourceOf(each) as Source), JSON.stringify(each)).toEqual(each);
  });

  it("names the steps it refers to", () => {
    expect(stepsNamedIn([from("a", "x"), { b: from("b") }, reference({ input: true, path: [] })])).toEqual([
      "a",
      "b",
    ]);
    expect(sourceOf(from("a", "x", "y"))).toEqual({ step: "a", path: ["x", "y"] });
    expect(stepsNamedIn(literal({ $from: ["step", "a"] }))).toEqual([]);
  });
});
