import { describe, expect, test } from "vitest";
import { newCron, parseCron } from "./cron.ts";

const problem = (text: string, parse = parseCron): string => {
  try {
    parse(text);
  } catch (error) {
    return (error as { details: { rule: string } }).details.rule;
  }
  return "none";
};

describe("a cron expression", () => {
  test("has lists, ranges, steps and names", () => {
    const cron = parseCron("0,30 8-18/5 1,15 jan-mar,DEC mon,fri-sun");
    expect(cron.minutes).toEqual([0, 30]);
    expect(cron.hours).toEqual([8, 13, 18]);
    expect([...cron.days]).toEqual([1, 15]);
    expect([...cron.months]).toEqual([1, 2, 3, 12]);
    expect([...cron.weekdays].sort()).toEqual([0, 1, 5, 6]);
    expect(cron.seconds).toEqual([0]);
  });

  test("has six fields when it begins with seconds", () => {
    expect(parseCron("*/20 5 * * * *")).toMatchObject({ seconds: [0, 20, 40], minutes: [5] });
  });

  test("knows two numbers for Sunday, and a step from one value on", () => {
    expect([...parseCron("0 0 * * 7").weekdays]).toEqual([0]);
    expect([...parseCron("0 0 * * *").weekdays]).toHaveLength(7);
    expect(parseCron("10/25 0 * * *").minutes).toEqual([10, 35]);
  });

  test("knows the last day of a month", () => {
    expect(parseCron("0 0 L * *")).toMatchObject({ lastDay: true, days: new Set() });
    expect(parseCron("0 0 15,L * *")).toMatchObject({ lastDay: true, days: new Set([15]) });
  });

  test("may be a nickname", () => {
    expect(parseCron("@daily")).toEqual(parseCron("0 0 * * *"));
    expect(parseCron(" @Weekly ")).toEqual(parseCron("0 0 * * sun"));
  });

  test.each([
    ["0 3 * *", '"0 3 * *" must have 5 fields, or 6 with seconds in front, but has 4'],
    ["", '"" must have 5 fields, or 6 with seconds in front, but has none'],
    ["61 * * * *", '"61 * * * *" has "61" in its minute, which must be 0 to 59'],
    ["0 0 0 * *", '"0 0 0 * *" has "0" in its day of month, which must be 1 to 31'],
    ["0 0 * foo *", '"0 0 * foo *" has "foo" in its month, which must be 1 to 12 or jan to dec'],
    ["0 9-5 * * *", '"0 9-5 * * *" has a range that goes backwards in its hour, "9-5"'],
    ["*/0 * * * *", '"*/0 * * * *" has a step that is not a whole number of at least 1 in its minute, "*/0"'],
    ["1-2-3 * * * *", '"1-2-3 * * * *" has "1-2-3" in its minute, which is not a range'],
    ["0, * * * *", '"0, * * * *" has "" in its minute, which must be 0 to 59'],
  ])("that is %j is refused with what is wrong", (text, rule) => {
    expect(problem(text)).toBe(rule);
  });

  test.each([
    ["*/90 * * * *", '"*/90 * * * *" has a step of 90 in its minute, which has only 60 values'],
    ["*/61 0 0 1 1 *", '"*/61 0 0 1 1 *" has a step of 61 in its second, which has only 60 values'],
    ["0 2-20/25 * * *", '"0 2-20/25 * * *" has a step of 25 in its hour, which has only 24 values'],
    ["0 0 1,5/32 * *", '"0 0 1,5/32 * *" has a step of 32 in its day of month, which has only 31 values'],
    ["0 0 1 */13 *", '"0 0 1 */13 *" has a step of 13 in its month, which has only 12 values'],
    ["0 0 * * */8", '"0 0 * * */8" has a step of 8 in its day of week, which has only 7 values'],
  ])("that is %j is refused when it is written, and is read where it was stored", (text, rule) => {
    expect(problem(text)).toBe("none");
    expect(problem(text, newCron)).toContain(rule);
  });

  test.each(["*/60 * * * *", "0 */24 * * *", "0 0 * * */7", "0 0 1 */12 *", "0 0 */31 * *"])(
    "may have a step as large as its field: %j",
    (text) => expect(problem(text, newCron)).toBe("none"),
  );

  test("that is no nickname is refused with those we know", () => {
    expect(problem("@fortnightly")).toContain("known: @yearly");
  });
});
