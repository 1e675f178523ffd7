import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { ItemOutcome } from "../run/fan-out.ts";
import { task } from "../task/definition.ts";
import type { RunOutputOf } from "./definition.ts";
import { workflow } from "./definition.ts";
import type { ItemError, Outcome } from "./handle.ts";
import { entries, zip } from "./items.ts";
import type { Reference } from "./reference.ts";
import type { Json } from "./template.ts";
import { greater } from "./when.ts";

interface User {
  id: string;
  age?: number;
}

const listUsers = task({
  id: "list-users",
  run: (): { users: User[]; byName: Record<string, User>; window: number; maybe: User[] | null } => ({
    users: [],
    byName: {},
    window: 3,
    maybe: null,
  }),
});
const syncUser = task({ id: "sync-user", run: (user: User) => ({ id: user.id, at: new Date(0) }) });
const square = task({ id: "square", input: z.number(), run: (n) => n * n });
const join = task({ id: "join", run: ([a, b]: readonly [string, number]) => `${a}${b}` });
const paint = task({ id: "paint", run: (colour: "red" | "blue") => colour });
const pair = task({ id: "pair", run: ({ key, value }: { key: string; value: User }) => `${key}${value.id}` });
const mail = task({ id: "mail", run: (_: { to: string; place: number; day: string }) => true });
const tick = task({ id: "tick", run: () => 1 });
const sum = task({ id: "sum", run: (ns: readonly number[]) => ns.length });
const report = task({ id: "report", run: (_: readonly Outcome<number>[]) => "told" });

describe("the types of a step over a list", () => {
  it("flow from the items through the task to a list of results", () => {
    const nightly = workflow({
      id: "nightly",
      steps: (s) => {
        const { users } = s.step("users", listUsers).output;
        const synced = s.each("sync", users, syncUser, { concurrency: 3 });
        expectTypeOf(synced.output).toEqualTypeOf<Reference<{ id: string; at: string }[]>>();
        expectTypeOf(synced.output[0].at).toEqualTypeOf<Reference<string>>();
        expectTypeOf(synced.outcomes).toEqualTypeOf<Reference<Outcome<{ id: string; at: string }>[]>>();
        const again = s.each("again", synced.output, syncUser);
        expectTypeOf(again.output.length).toEqualTypeOf<Reference<number>>();
        return synced;
      },
    });
    expectTypeOf<RunOutputOf<typeof nightly>>().toEqualTypeOf<{ id: string; at: string }[]>();
  });

  it("take lists as they are, several together, and objects by their fields", () => {
    workflow({
      id: "kinds",
      steps: (s, input: Reference<{ numbers: number[]; names: readonly string[]; open: User }>) => {
        const { users, byName, window } = s.step("users", listUsers).output;
        s.each("a", [1, window, input.numbers[0]], square, { concurrency: window });
        s.each("b", ["red", "blue"], paint);
        s.each("c", zip(input.names, input.numbers), join);
        s.each("d", zip(["x", "y"], [1, window]), join);
        s.each("e", entries(byName), pair);
        s.each("f", entries({ first: { id: "1" }, second: users[0] }), pair);
        s.each("g", [{ id: "1", tags: ["a"] }, users[0]], syncUser);
        s.each("h", users, tick);
        s.each("i", [], square);
        s.each("j", entries(input.open), tick, {
          onFailure: "stop",
          input: ({ key, value }) => {
            expectTypeOf(key).toEqualTypeOf<Reference<"id" | "age">>();
            expectTypeOf(value).toEqualTypeOf<Reference<string | number>>();
          },
        });
      },
    });
  });

  it("leave open what the author left open", () => {
    // biome-ignore lint/suspicious/noExplicitAny: `any` is what is tested.
    const anything = task({ id: "anything", run: (given: any) => given });
    workflow({
      id: "open",
      // biome-ignore lint/suspicious/noExplicitAny: `any` is what is tested.
      steps: (s, input: Reference<{ list: any }>) => {
        s.each("a", input.list, square, { input: (item) => item.deep.down });
        const { output } = s.each("b", entries(input.list), anything, { input: ({ value }) => value.id });
        s.each("c", zip(input.list, output), anything);
        s.each("d", output, syncUser);
      },
    });
  });

  it("know the item and its place where it is given its input", () => {
    workflow({
      id: "input",
      steps: (s, input: Reference<{ day: string; names: string[] }>) => {
        const { users } = s.step("users", listUsers).output;
        s.each("a", users, mail, {
          input: (user, index) => {
            expectTypeOf(user).toEqualTypeOf<Reference<User>>();
            expectTypeOf(index).toEqualTypeOf<Reference<number>>();
            return { to: user.id, place: index, day: input.day };
          },
        });
        s.each("b", zip(users, input.names), mail, {
          input: (both, place) => ({ to: both[0].id, place, day: both[1] }),
        });
        s.each("c", users, mail, {
          // @ts-expect-error an age may be missing and is no text
          input: (user, place) => ({ to: user.age, place, day: input.day }),
        });
        s.each("d", users, mail, {
          // @ts-expect-error a field is missing
          input: (user) => ({ to: user.id, day: input.day }),
        });
      },
    });
  });

  it("refuse items that are no list, or no input of the task", () => {
    workflow({
      id: "wrong",
      steps: (s, input: Reference<{ numbers: number[]; names: string[] }>) => {
        const { users, maybe, window } = s.step("users", listUsers).output;
        // @ts-expect-error a user is no number
        s.each("a", users, square);
        // @ts-expect-error neither with options
        s.each("b", users, square, { concurrency: 3 });
        // @ts-expect-error a number is no list
        s.each("c", window, square);
        // @ts-expect-error there may be none
        s.each("d", maybe, syncUser);
        // @ts-expect-error there is no such colour
        s.each("e", ["red", "green"], paint);
        // @ts-expect-error the wrong way round
        s.each("f", zip(input.numbers, input.names), join);
        // @ts-expect-error a list has no fields
        s.each("g", entries(users), pair);
        // @ts-expect-error a number has no fields
        entries(window);
        // @ts-expect-error a number is no list
        zip(users, window);
        // @ts-expect-error nothing to take together
        zip();
        // @ts-expect-error a list is no number
        s.each("h", input.numbers, square, { concurrency: input.numbers });
        // @ts-expect-error no such policy
        s.each("i", input.numbers, square, { onFailure: "ignore" });
        // @ts-expect-error no such option
        s.each("j", input.numbers, square, { concurency: 3 });
      },
    });
  });

  it("make results and outcomes fit as lists, and only as such", () => {
    workflow({
      id: "uses",
      steps: (s, input: Reference<number[]>) => {
        const squared = s.each("squared", input, square, { onFailure: "cancel" });
        s.step("sum", sum, squared.output);
        s.step("told", report, squared.outcomes, { after: [squared.finished] });
        s.step("first", square, squared.output[0], { when: greater(squared.output.length, 0) });
        // @ts-expect-error a list of numbers is no number
        s.step("a", square, squared.output);
        // @ts-expect-error outcomes are no numbers
        s.step("b", sum, squared.outcomes);
        // @ts-expect-error a number is no outcome
        s.step("c", report, squared.output);
        // @ts-expect-error a plain step has no items
        s.step("d", tick).outcomes;
      },
    });
    expectTypeOf<Exclude<Outcome<Json>, { state: "succeeded" }>["error"]>().toEqualTypeOf<ItemError | null>();
    expectTypeOf<Outcome<Json>["state"]>().toEqualTypeOf<ItemOutcome["state"]>();
  });
});
