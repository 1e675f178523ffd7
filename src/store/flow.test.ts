import { describe, expect, test } from "vitest";
import type { Flight, Flow } from "./flow.ts";
import { commit, flight, lastFlight, send } from "./flow.ts";
import type { Row } from "./row.ts";
import { idOf, int } from "./row.ts";
import { raw } from "./sql.ts";

const CLOCKS = { wall: 0, lease: 0 };
const ids = (statement: string) => raw(statement).as(idOf);

/** Runs a flow on a database that answers each statement with these rows. Returns what the flow sent. */
function played<T>(
  flow: Flow<T>,
  answers: Readonly<Record<string, Row[]>>,
): { result: T; flights: Flight[] } {
  const flights: Flight[] = [];
  let step = flow.next();
  while (!step.done) {
    flights.push(step.value);
    step = flow.next(textsOf(step.value).map((text) => answers[text] ?? []));
  }
  return { result: step.value, flights };
}

const textsOf = ({ statements }: Flight): string[] =>
  statements.map((statement) => statement.render("sqlite", CLOCKS).text);

describe("a flight", () => {
  test("sends its statements in the order in which they are written, and answers by name", () => {
    const { result, flights } = played(
      flight({
        written: [raw("w1"), [raw("w2")]],
        units: raw("sum").as(({ n }) => int(n)),
        skipped: false as false | ReturnType<typeof ids>,
        found: [ids("a"), raw("w3"), [ids("b")]],
      }),
      { w1: [{ id: "not read" }], sum: [{ n: "3" }], a: [{ id: "a1" }, { id: "a2" }], b: [{ id: "b1" }] },
    );
    expect(flights.map(textsOf)).toEqual([["w1", "w2", "sum", "a", "w3", "b"]]);
    expect(result).toEqual({ written: [], units: [3], skipped: [], found: ["a1", "a2", "b1"] });
  });

  test("with nothing in it is not sent", () => {
    const { result, flights } = played(send([false, []]), {});
    expect(result).toEqual([]);
    expect(flights).toEqual([]);
  });

  test("that is the last takes the commit along, with or without statements", () => {
    const last = played(lastFlight({ found: ids("a") }), { a: [{ id: "a1" }] });
    expect(last.result).toEqual({ found: ["a1"] });
    expect(last.flights.map(({ last }) => last)).toEqual([true]);
    const empty = played(commit([false]), {});
    expect(empty.flights).toEqual([{ statements: [], last: true }]);
  });
});
