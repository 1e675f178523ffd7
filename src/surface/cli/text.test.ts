import { describe, expect, test } from "vitest";
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

  test("cannot command it", () => {
    expect(safe("a\u001b[2Jb\nc\u202ed")).toBe("a[2Jb cd");
    expect(safeLines("a\u0007\nb")).toBe("a\nb");
  });
});
