import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Ending } from "../executor.ts";
import { LogTail } from "./log-tail.ts";
import { hear, sayEnded, sayLog, sayProgress } from "./report.ts";

const good: Ending = { ok: true, result: '{"a":"line\\nbreak"}' };
const bad: Ending = { ok: false, error: { name: "Error", message: "no\nway", code: "X" }, retryable: false };

const read = (log: string, fence = 7): LogTail => {
  const tail = new LogTail(fence);
  tail.push(log);
  return tail.close();
};

describe("what is said", () => {
  const later: Ending = { ...bad, retryable: true, next: { inMs: 300_000 } };

  test.each([good, bad, later])("is heard as it was", (ending) => {
    expect(hear(7, sayEnded(7, ending))).toEqual({ kind: "ended", ending });
  });

  test("is one line, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 1 }), (message, data) => {
        const line = sayLog(7, message, data);
        expect(line).not.toContain("\n");
        expect(hear(7, line)).toEqual({ kind: "log", message, data: JSON.parse(JSON.stringify(data)) });
      }),
    );
  });

  test("of an earlier claim is no more than a line", () => {
    const line = sayEnded(6, good);
    expect(hear(7, line)).toEqual({ kind: "log", message: line });
  });

  test("may have no word in JSON", () => {
    expect(hear(7, sayProgress(7, undefined))).toEqual({ kind: "progress", value: null });
    expect(hear(7, sayLog(7, "x"))).toEqual({ kind: "log", message: "x" });
  });

  test("that has the mark but not the shape is no ending", () => {
    for (const json of [
      "",
      "7",
      "null",
      '{"ok":true}',
      '{"ok":false,"error":{}}',
      '{"ok":true,"result":{}}',
      '{"ok":false,"error":{"name":"E","message":"m"},"retryable":true,"next":{"inMs":"5"}}',
    ])
      expect(hear(7, `::sluice:7:ended::${json}`)).toEqual({ kind: "garbled" });
  });
});

describe("a log", () => {
  test("gives its lines in their order, without ours and without empty ones", () => {
    const { lines, ending, progress } = read(
      ["one", "", sayLog(7, "two", 2), "three\r", sayProgress(7, 0.5), sayEnded(7, good), ""].join("\n"),
    );
    expect(lines).toEqual([{ message: "one" }, { message: "two", data: 2 }, { message: "three" }]);
    expect(ending).toEqual(good);
    expect(progress).toEqual({ value: 0.5 });
  });

  test("may go on after the end: the last ending counts", () => {
    const tail = read(`${sayEnded(7, bad)}\n${sayEnded(7, good)}\nexit handler\n`);
    expect(tail.ending).toEqual(good);
    expect(tail.lines).toEqual([{ message: "exit handler" }]);
  });

  test("may come in pieces that end anywhere", () => {
    const log = `hello\n${sayEnded(7, good)}\nbye`;
    fc.assert(
      fc.property(fc.array(fc.nat(log.length)), (cuts) => {
        const tail = new LogTail(7);
        const at = [0, ...cuts.sort((a, b) => a - b), log.length];
        for (let n = 1; n < at.length; n += 1) tail.push(log.slice(at[n - 1], at[n]));
        tail.close();
        expect(tail.ending).toEqual(good);
        expect(tail.lines).toEqual([{ message: "hello" }, { message: "bye" }]);
      }),
    );
  });

  test("that is cut off inside the ending has none, and says so", () => {
    const log = sayEnded(7, good);
    const mark = "::sluice:7:ended::".length;
    for (let length = mark; length < log.length; length += 1)
      expect(read(log.slice(0, length))).toMatchObject({ ending: undefined, isGarbled: true });
    expect(read(log)).toMatchObject({ ending: good, isGarbled: false });
  });

  test("without a mark has no ending, and is not garbled either", () => {
    expect(read("hello\n")).toMatchObject({ ending: undefined, isGarbled: false });
    expect(read("")).toMatchObject({ ending: undefined, lines: [] });
  });

  test("keeps its last thousand lines, and of each a bounded part", () => {
    const numbered = Array.from({ length: 1_500 }, (_, n) => `line ${n}`).join("\n");
    const { lines } = read(`${numbered}\n${"x".repeat(9_000)}\n`);
    expect(lines).toHaveLength(1_000);
    expect(lines[0]).toEqual({ message: "line 501" });
    expect(lines.at(-1)?.message).toHaveLength(4_001);
  });

  test("drops data that is too large, and keeps its message", () => {
    expect(read(sayLog(7, "big", "x".repeat(20_000))).lines).toEqual([{ message: "big" }]);
  });
});
