import { describe, expect, test } from "vitest";
import { doesServe, servesText, serving } from "./serving.ts";

describe("a session serves a lane", () => {
  const mine = servesText(["mail", "money"], ["send"]);

  test("when it runs both its queue and its task", () => {
    expect(doesServe(mine, { queue: "mail", task: "send" })).toBe(true);
    expect(doesServe(mine, { queue: "money", task: "send" })).toBe(true);
    expect(doesServe(mine, { queue: "mail", task: "bill" })).toBe(false);
    expect(doesServe(mine, { queue: "other", task: "send" })).toBe(false);
  });

  test("by what its own text says, however many texts were read before", () => {
    for (let index = 0; index < 1_500; index += 1) {
      const text = servesText([`q${index}`], ["t"]);
      expect(doesServe(text, { queue: `q${index}`, task: "t" })).toBe(true);
      expect(doesServe(text, { queue: "q", task: "t" })).toBe(false);
    }
    expect(doesServe(mine, { queue: "mail", task: "send" })).toBe(true);
  });
});

test("those who serve a lane are named by their position", () => {
  const sessions = [
    { id: "a", slots: 1, serves: servesText(["mail"], ["send"]) },
    { id: "b", slots: 1, serves: servesText(["mail"], ["bill"]) },
    { id: "c", slots: 1, serves: servesText(["mail", "x"], ["send", "bill"]) },
  ];
  expect(serving(sessions, { queue: "mail", task: "send" })).toEqual([0, 2]);
  expect(serving(sessions, { queue: "mail", task: "bill" })).toEqual([1, 2]);
  expect(serving(sessions, { queue: "x", task: "send" })).toEqual([2]);
  expect(serving(sessions, { queue: "none", task: "send" })).toEqual([]);
});
