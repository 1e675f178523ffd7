import { describe, expect, test } from "vitest";
import type { Audited, Tables } from "../history.ts";
import { checkGrants } from "./grants.ts";
import { claim, limit, outcome, outcomeRow, release, session, stepTask, tables, task } from "./planted.ts";
import { checkRuns } from "./runs.ts";
import { asTheAppSays, lanesOfUnits } from "./said.ts";
import type { Owed } from "./ticks.ts";
import { checkTicks } from "./ticks.ts";

const ends = (at: number, epoch: number, id: string): Audited[] => [
  claim(at, epoch, { task: id }),
  release(at + 1, epoch, { task: id }),
  outcome(at + 1, id, { epoch }),
];

/** A successful run of two steps. */
const well: readonly Audited[] = [session(0, "s", 9_000), ...ends(1, 1, "r-one"), ...ends(5, 2, "r-two")];
const solo = (over: Partial<Tables> = {}): Tables =>
  tables({
    tasks: [{ ...task("r"), key: "k" }, stepTask("r", "one"), stepTask("r", "two")],
    runs: [{ id: "r", workflow: "solo", source: "code", mark: null }],
    outcomes: ["r", "r-one", "r-two"].map((id) => outcomeRow(id)),
    ...over,
  });

const ordered = [{ key: "k", workflow: "solo", marks: ["k/one", "k/two"] }];

describe("runs", () => {
  const look = (audit = well, found = solo(), cancelled: string[] = []) =>
    checkRuns({ audit, tables: found, ordered, cancelled: new Set(cancelled) }).violations;

  test("are content with steps that each succeeded once, in their order", () => {
    expect(look()).toEqual([]);
  });

  test("find a step that was put in line twice", () => {
    const twice = { ...stepTask("r", "two"), id: "r-two-again" };
    const outcomes = [...solo().outcomes, outcomeRow("r-two-again")];
    expect(look(well, solo({ tasks: [...solo().tasks, twice], outcomes }))).toContain(
      "run r: step two was put in line 2 times instead of 1",
    );
  });

  test("find a step that ran again after it had ended, and one that did not wait for what it needs", () => {
    expect(look([...well, claim(20, 3, { task: "r-one" })])).toEqual([
      "one (r-one) was claimed again after it had ended",
    ]);
    expect(look([session(0, "s", 9_000), ...ends(1, 1, "r-two"), ...ends(5, 2, "r-one")])).toEqual([
      "run r: two (r-two) was claimed before what it needs had ended",
    ]);
  });

  test("find a run that failed for nothing, unless it was cancelled", () => {
    const failed = solo({ outcomes: [outcomeRow("r", { state: "failed" }), ...solo().outcomes.slice(1)] });
    expect(look(well, failed)).toHaveLength(1);
    expect(look(well, failed, ["r"])).toEqual([]);
  });

  test("find an item that was submitted and never put in line, and a run that nobody submitted", () => {
    const marks = ["k/one", "k/two/0", "k/two/1", "k/two/2"];
    const items = [0, 2].map((item) => ({
      ...stepTask("r", "two", item),
      id: item === 0 ? "r-two" : "r-three",
    }));
    const found = solo({
      tasks: [...solo().tasks.slice(0, 2), ...items],
      outcomes: [...solo().outcomes, outcomeRow("r-three")],
    });
    const audit = [...well, ...ends(9, 3, "r-three")];
    const lost = checkRuns({
      audit,
      tables: found,
      ordered: [{ key: "k", workflow: "solo", marks }],
      cancelled: new Set(),
    });
    expect(lost.violations).toEqual([
      "run r: step two was put in line 2 times instead of 3",
      "run r: of step two is missing: 1",
    ]);
    const unknown = checkRuns({ audit: well, tables: solo(), ordered: [], cancelled: new Set() });
    expect(unknown.violations).toEqual(["run r (solo) was never submitted"]);
  });

  test("find a run that never ended, and what it left behind", () => {
    expect(look(well, solo({ outcomes: solo().outcomes.slice(1) }))).toEqual(["run r (solo) has not ended"]);
    const unended = { outcomes: solo().outcomes.slice(1), news: ["r"] };
    expect(look(well, solo(unended))).toContain("1 news of runs that nobody looked at: r");
    expect(look(well, solo({ gates: ["run:r/async", "cluster"] }))).toHaveLength(1);
    expect(look(well, solo({ gates: ["run:r/async"], news: ["r"] }))).toHaveLength(2);
  });

  test("do not mind news of a run that is over and left nothing behind", () => {
    expect(look(well, solo({ news: ["r"] }))).toEqual([]);
  });
});

describe("what the app says", () => {
  test("is held against units that did not ask for their window", () => {
    const items = [0, 1, 2].map((item) => stepTask("r", "list", item));
    const claims = items.map(({ id }, index) => claim(1 + index, index + 1, { task: id }));
    const audit = [limit(0, "cluster", 10), limit(0, "pool:a", 9), session(0, "s", 9_000), ...claims];
    const said = asTheAppSays(audit, tables({ tasks: items }), lanesOfUnits(audit));
    expect(checkGrants(said.audit, said.lanes).violations).toEqual([
      "said window of r list 3/2 after the grant of epoch 3 (r-list-2)",
    ]);
  });

  test("is held against units that did not ask for their pool, and against runs without their mutex", () => {
    const asking = (name: string, run: string, step: string) => ({ ...stepTask(run, step), name });
    const look = (a: Tables["tasks"][number], b: Tables["tasks"][number]) => {
      const audit = [
        ...[limit(0, "cluster", 10), limit(0, "pool:a", 9), limit(0, "pool:database", 1)],
        session(0, "s", 9_000),
        claim(1, 1, { task: a.id }),
        claim(2, 2, { task: b.id }),
      ];
      const runs = ["r", "q"].map((id) => ({ id, workflow: "solo", source: "code", mark: null }));
      const said = asTheAppSays(audit, tables({ tasks: [a, b], runs }), lanesOfUnits(audit));
      return checkGrants(said.audit, said.lanes).violations;
    };
    expect(look(asking("share", "x", "left"), asking("share", "y", "left"))).toEqual([
      "pool:database 2/1 after the grant of epoch 2 (y-left)",
    ]);
    expect(look(asking("part", "r", "two"), asking("part", "q", "one"))).toEqual([
      "said inside of solo 2/1 after the grant of epoch 2 (q-one)",
    ]);
  });
});

describe("ticks", () => {
  const ticking = (marks: readonly string[], owed?: Owed) =>
    checkTicks(
      { runs: marks.map((mark, index) => ({ id: `k${index}`, workflow: "beat", source: "x", mark })) },
      2_000,
      owed,
    ).violations;
  const at = (second: number): string => `tick/2026-01-01T00:00:0${second}Z`;

  test("are content with each once", () => {
    expect(ticking([at(0), at(2), at(4), "sight/1", "sight/2"])).toEqual([]);
  });

  test("find one that is missing and one that came twice", () => {
    expect(ticking([at(0), at(4)])).toHaveLength(1);
    expect(ticking([at(0), at(0)])).toHaveLength(1);
    expect(ticking(["sight/1", "sight/2", "sight/2"])).toEqual(["the sensor made two runs for 2"]);
    expect(ticking(["sight/2"])).toHaveLength(1);
    expect(ticking(["sight/1", "sight/3"])).toHaveLength(1);
  });

  test("find those that were owed and never came, also where none came at all", () => {
    const owed = { from: Date.parse("2026-01-01T00:00:01Z"), to: Date.parse("2026-01-01T00:00:07Z") };
    expect(ticking([at(2), at(4), at(6)], owed)).toEqual([]);
    expect(ticking([at(2), at(4)], owed)).toEqual(["the schedule made no run for 2026-01-01T00:00:06.000Z"]);
    expect(ticking([], owed)).toHaveLength(3);
  });
});
