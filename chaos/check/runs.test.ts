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
    tasks: [task("r"), stepTask("r", "one"), stepTask("r", "two")],
    runs: [{ id: "r", workflow: "solo", source: "code" }],
    outcomes: ["r", "r-one", "r-two"].map((id) => outcomeRow(id)),
    ...over,
  });

describe("runs", () => {
  const look = (audit = well, found = solo(), cancelled: string[] = []) =>
    checkRuns({ audit, tables: found, cancelled: new Set(cancelled) }).violations;

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

  test("find a run that never ended, and what it left behind", () => {
    expect(look(well, solo({ outcomes: solo().outcomes.slice(1) }))).toEqual(["run r (solo) has not ended"]);
    expect(look(well, solo({ news: ["r"] }))).toHaveLength(1);
    expect(look(well, solo({ gates: ["run:r/async", "cluster"] }))).toHaveLength(1);
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
});

describe("ticks", () => {
  const ticking = (keys: readonly string[], owed?: Owed) =>
    checkTicks(
      tables({
        tasks: keys.map((key, index) => ({ ...task(`k${index}`), key })),
        runs: keys.map((_, index) => ({ id: `k${index}`, workflow: "beat", source: "schedule tick" })),
      }),
      2_000,
      owed,
    ).violations;
  const at = (second: number): string => `schedule:tick:2026-01-01T00:00:0${second}Z`;

  test("are content with each once", () => {
    expect(ticking([at(0), at(2), at(4), "sensor:count:1", "sensor:count:2"])).toEqual([]);
  });

  test("find one that is missing and one that came twice", () => {
    expect(ticking([at(0), at(4)])).toHaveLength(1);
    expect(ticking([at(0), at(0)])).toHaveLength(1);
    expect(ticking(["sensor:count:1", "sensor:count:3"])).toHaveLength(1);
  });

  test("find those that were owed and never came, also where none came at all", () => {
    const owed = { from: Date.parse("2026-01-01T00:00:01Z"), to: Date.parse("2026-01-01T00:00:07Z") };
    expect(ticking([at(2), at(4), at(6)], owed)).toEqual([]);
    expect(ticking([at(2), at(4)], owed)).toEqual(["the schedule made no run for 2026-01-01T00:00:06.000Z"]);
    expect(ticking([], owed)).toHaveLength(3);
  });
});
