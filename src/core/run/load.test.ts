import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonLength, MOST_LOADED, mostLoaded, portion, tooLarge } from "./load.ts";

const MB = 1024 * 1024;

test("a look may read 64 MB, and less if the process has less than a gigabyte", () => {
  expect(MOST_LOADED).toBe(64 * MB);
  expect(mostLoaded(4096 * MB)).toBe(64 * MB);
  expect(mostLoaded(256 * MB)).toBe(16 * MB);
});

test("the error names the step, the total, the largest parts and the limit", () => {
  const parts = [1, 30, 2, 3, 4, 5].map((size, n) => ({ what: `part ${n}`, size: size * MB }));
  expect(tooLarge('Step "len"', parts, 16 * MB)).toMatchObject({
    code: "DATA_TOO_LARGE",
    message:
      'Step "len" needs 45.0 MB of data at once: part 1 (30.0 MB), part 5 (5.0 MB), part 4 (4.0 MB), part 3 (3.0 MB), part 2 (2.0 MB), 1 more. The limit is 16.0 MB. Return less, or store the data elsewhere and return a reference to it.',
  });
});

describe("the length of a value", () => {
  test("is at least that of its JSON text without escapes, and at most twice as much", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: true } as never), (value) => {
        const length = jsonLength(value as never, Number.POSITIVE_INFINITY);
        const text = JSON.stringify(value).replace(/\\\\|\\"/g, "x");
        expect(length).toBeGreaterThanOrEqual(text.length - 1);
        expect(length).toBeLessThanOrEqual(2 * text.length + 2);
      }),
    );
  });

  test("is not counted to the end of a value that is too large", () => {
    let read = 0;
    const part = {
      get text() {
        read += 1;
        return "x".repeat(100);
      },
    };
    expect(jsonLength(Array.from({ length: 1_000 }, () => part) as never, 1_000)).toBeGreaterThan(1_000);
    expect(read).toBeLessThan(20);
  });
});

describe("of the runs in the news", () => {
  const ids = ["a", "b", "c"];
  const now = (...sizes: number[]) => portion(ids, new Map(ids.map((id, n) => [id, sizes[n] ?? 0])), 10).now;

  test("as many are read as fit", () => {
    expect(now(4, 6, 1)).toEqual(["a", "b"]);
    expect(now(4, 7, 1)).toEqual(["a"]);
  });

  test("one that is too large by itself is not read, so it takes no room", () => {
    expect(now(11, 10, 0)).toEqual(["a", "b", "c"]);
    expect(now(10, 11, 0)).toEqual(["a", "b", "c"]);
  });
});
