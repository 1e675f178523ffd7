import { expect, test } from "vitest";
import { processName, processOf, requestName, shownName } from "./request.ts";

test("a request is known by its holder, whatever its name contains", () => {
  expect(shownName(requestName("p1", "host:12"))).toBe("host:12");
  expect(shownName(requestName("p1", "a/b"))).toBe("a/b");
  expect(processOf(requestName("p1", "a/b"))).toBe(processName("p1"));
});

test("every other unit keeps its name", () => {
  expect(shownName("mail")).toBe("mail");
  expect(shownName("@runs")).toBe("@runs");
});
