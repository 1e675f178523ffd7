import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { task } from "../task/definition.ts";
import type { AnyWorkflow, RunInputOf, RunOutputOf } from "./definition.ts";
import { workflow } from "./definition.ts";
import type { Reference } from "./reference.ts";
import { all, any, equal, greater, less, not, when } from "./when.ts";

const fetchDay = task({
  id: "fetch",
  input: z.object({ day: z.string(), retries: z.number().optional() }),
  run: ({ day }) => ({ rows: [{ id: day, cents: 1 }], at: new Date(0), note: null as string | null }),
});
const sum = task({ id: "sum", run: ({ cents }: { cents: number }) => ({ total: cents }) });
const count = task({ id: "count", run: (rows: readonly { id: string }[]) => rows.length });
const report = task({
  id: "report",
  run: (input: { total: number; count: number; title?: string; tags: string[] }) => ({
    url: `/${input.total}`,
  }),
});
const tick = task({ id: "tick", run: () => 1 });

describe("a workflow's types", () => {
  it("flow through a diamond, from outputs to inputs to the result", () => {
    const nightly = workflow({
      id: "nightly",
      input: z.object({
        day: z.string(),
        loud: z.boolean().default(false),
        at: z.string().transform(Number),
      }),
      steps: (s, input) => {
        expectTypeOf(input.at).toEqualTypeOf<Reference<number>>();
        const fetched = s.step("fetch", fetchDay, { day: input.day });
        expectTypeOf(fetched.output.at).toEqualTypeOf<Reference<string>>();
        expectTypeOf(fetched.output.rows.length).toEqualTypeOf<Reference<number>>();
        const summed = s.step("sum", sum, { cents: fetched.output.rows[0].cents });
        const counted = s.step("count", count, fetched.output.rows, { when: when(input.loud) });
        const told = s.step("report", report, {
          total: summed.output.total,
          count: counted.output,
          tags: [input.day, "nightly"],
        });
        return { url: told.output.url, parts: [summed.output.total], fixed: true };
      },
    });
    expectTypeOf<RunInputOf<typeof nightly>>().toEqualTypeOf<{
      day: string;
      loud?: boolean | undefined;
      at: string;
    }>();
    expectTypeOf<RunOutputOf<typeof nightly>>().toEqualTypeOf<{
      url: string;
      parts: number[];
      fixed: boolean;
    }>();
  });

  it("refuse an output where its type is not wanted", () => {
    workflow({
      id: "wrong",
      steps: (s) => {
        const fetched = s.step("fetch", fetchDay, { day: "today" });
        const counted = s.step("count", count, []);
        // @ts-expect-error a list is no number
        s.step("a", sum, { cents: fetched.output.rows });
        // @ts-expect-error it may be null
        s.step("b", fetchDay, { day: fetched.output.note });
        // @ts-expect-error nothing of this name is returned
        s.step("c", sum, { cents: fetched.output.cents });
        // @ts-expect-error a field is missing
        s.step("d", report, { total: counted.output, count: 1 });
        // @ts-expect-error an input is needed
        s.step("e", sum);
        // @ts-expect-error a number deep inside
        s.step("f", report, { total: 1, count: 1, tags: ["a", counted.output] });
        // @ts-expect-error no such field
        s.step("g", sum, { cents: 1, euros: 2 });
      },
    });
  });

  it("let a reference stand for the whole, for a part, and for what may be left out", () => {
    workflow({
      id: "fits",
      steps: (s, input: Reference<{ cents: number; title?: string }>) => {
        const whole = s.step("whole", sum, input);
        s.step("part", sum, { cents: input.cents });
        s.step("optional", report, { total: 1, count: 2, tags: [], title: input.title });
        s.step("nothing", tick);
        const nothing = s.step("b", tick);
        s.step("after", tick, undefined, { after: [whole, whole.failed, nothing.finished] });
      },
    });
  });

  it("know what conditions compare", () => {
    workflow({
      id: "conditions",
      steps: (s) => {
        const fetched = s.step("fetch", fetchDay, { day: "today" });
        const counted = s.step("count", count, fetched.output.rows);
        s.step("a", tick, undefined, { when: equal(fetched.output.note, "done") });
        s.step("b", tick, undefined, {
          when: all(greater(counted.output, 3), not(when(fetched.output.rows))),
        });
        s.step("c", tick, undefined, {
          when: any(less(fetched.output.at, "2027"), equal(counted.output, null)),
        });
        // @ts-expect-error a number is no text
        s.step("d", tick, undefined, { when: equal(counted.output, "3") });
        // @ts-expect-error a number is no text
        s.step("e", tick, undefined, { when: less(counted.output, "3") });
      },
    });
  });

  it("are void where nothing goes in and nothing comes out", () => {
    const plain = workflow({ id: "plain", steps: (s) => void s.step("tick", tick) });
    expectTypeOf<RunInputOf<typeof plain>>().toEqualTypeOf<void>();
    const told = workflow({
      id: "told",
      steps: (s, _input: Reference<{ day: string }>) => s.step("tick", tick),
    });
    expectTypeOf<RunInputOf<typeof told>>().toEqualTypeOf<{ day: string }>();
    expectTypeOf<RunOutputOf<typeof told>>().toEqualTypeOf<number>();
    const list: readonly AnyWorkflow[] = [plain, told];
    expect(list.map(({ id }) => id)).toEqual(["plain", "told"]);
  });
});
