import { describe, expect, it } from "vitest";
import { nearest, unknownAmong } from "./near.ts";

describe("a name that was not found", () => {
  const known = ["stripe", "email", "reports"];

  it.each([
    ["strpie", "stripe"],
    ["strip", "stripe"],
    ["Email", "email"],
    ["report", "reports"],
    ["emial", "email"],
  ])("%s was probably meant as %s", (name, meant) => {
    expect(nearest(name, known)).toBe(meant);
  });

  it("is not guessed at when nothing is close", () => {
    expect(nearest("gpu", known)).toBeUndefined();
    expect(nearest("", known)).toBeUndefined();
  });

  it("is answered with the names that are known", () => {
    expect(unknownAmong("emial", known)).toBe(' (known: stripe, email, reports; did you mean "email"?)');
    expect(unknownAmong("gpu", known)).toBe(" (known: stripe, email, reports)");
    expect(unknownAmong("gpu", [])).toBe(" (none are declared)");
  });
});
