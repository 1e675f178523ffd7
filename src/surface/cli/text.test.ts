import { describe, expect, test } from "vitest";
import { fields } from "./table.ts";
import { cutTo, padTo, safe, safeLines, widthOf } from "./text.ts";

describe("text on a terminal", () => {
  test("is as wide as the columns it takes", () => {
    expect(widthOf("plain")).toBe(5);
    expect(widthOf("né")).toBe(2);
    expect(widthOf("ne\u0301")).toBe(2);
    expect(widthOf("日本")).toBe(4);
    expect(widthOf("👍🏽 ok")).toBe(5);
    expect(padTo("日", 4)).toBe("日  ");
  });

  test("is cut between characters, and says so", () => {
    expect(cutTo("abcdef", 6)).toBe("abcdef");
    expect(cutTo("abcdefg", 6)).toBe("abcde…");
    expect(cutTo("日本語", 4)).toBe("日…");
  });

  test("of ten megabytes is shown short, and says how much there is", () => {
    const huge = JSON.stringify({ body: "x日".repeat(5_000_000) });
    expect(safe(huge).length).toBeLessThan(2_200);
    expect(safe(huge)).toContain(`(${huge.length} characters; --json prints all of it)`);
    expect(safeLines(huge).length).toBeLessThan(2_200);
    expect(cutTo(huge, 60).length).toBeLessThan(61);
    expect(fields([["input", huge]]).length).toBeLessThan(2_300);
  });

  test("cannot command it", () => {
    expect(safe("a\u001b[2Jb\nc\u202ed")).toBe("a[2Jb cd");
    expect(safeLines("a\u0007\nb")).toBe("a\nb");
  });
});
