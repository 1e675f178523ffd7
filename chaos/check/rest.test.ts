import { describe, expect, test } from "vitest";
import type { Impairment, Stopped } from "../history.ts";
import { checkConservation } from "./conservation.ts";
import { checkFencing } from "./fencing.ts";
import { livesOf } from "./lives.ts";
import { lateOrphans } from "./orphans.ts";
import { checkOutage } from "./outage.ts";
import { checkOutcomes } from "./outcomes.ts";
import {
  claim,
  effect,
  outcome,
  outcomeRow,
  release,
  session,
  tables,
  task,
  visit,
  waiting,
} from "./planted.ts";
import { checkQuiescence } from "./quiescence.ts";
import { checkStopping } from "./stopping.ts";
import { checkVacuity } from "./vacuity.ts";

describe("conservation", () => {
  const acked = [{ ids: ["a", "b"], keys: [null, "k"] }];

  test("is content when each is in one state", () => {
    const there = tables({ tasks: [task("a"), task("b")], waiting: ["a"], outcomes: [outcomeRow("b")] });
    expect(checkConservation(acked, there).violations).toEqual([]);
  });

  test("finds what was acknowledged and is gone, is nowhere, or is in two states", () => {
    expect(checkConservation(acked, tables({ tasks: [task("a")], waiting: ["a"] })).violations).toEqual([
      "b was acknowledged and is nowhere",
    ]);
    const torn = tables({ tasks: [task("a"), task("b")], waiting: ["a"], running: ["a"] });
    expect(checkConservation(acked, torn).violations).toEqual([
      "a is in 2 states: waiting, running",
      "b is in 0 states: none",
    ]);
  });

  test("finds a place without a task, and a key that made two", () => {
    expect(checkConservation([], tables({ later: ["x"] })).violations).toHaveLength(1);
    const both = tables({ tasks: [task("b"), task("c")], waiting: ["b", "c"] });
    const twice = [
      { ids: ["b"], keys: ["k"] },
      { ids: ["c"], keys: ["k"] },
    ];
    expect(checkConservation(twice, both).violations).toEqual(["the key k gave two tasks: b and c"]);
  });
});

describe("fencing", () => {
  test("finds epochs and accepted tokens that go back", () => {
    const lives = livesOf([claim(1, 5, { task: "t" }), claim(2, 4, { task: "t" })]);
    expect(checkFencing(lives, []).violations).toEqual(["t was claimed with epoch 4 after 5"]);
    const effects = [effect(1, "task:t", 5), effect(2, "task:t", 4)];
    expect(checkFencing(livesOf([]), effects).violations).toHaveLength(1);
    expect(checkFencing(livesOf([]), [effect(1, "task:t", 5), effect(2, "task:t", 4, false)])).toMatchObject({
      violations: [],
      refused: 1,
    });
  });
});

describe("outcomes", () => {
  const audit = [
    session(0, "s", 9_000),
    claim(1, 1, { task: "t" }),
    release(2, 1, { task: "t" }),
    outcome(2, "t", { epoch: 1 }),
  ];
  const look = (row = outcomeRow("t"), events = audit, effects = [effect(1, "task:t", 1)], attempts = 3) =>
    checkOutcomes(events, tables({ tasks: [task("t", attempts)], outcomes: [row] }), livesOf(events), effects)
      .violations;

  test("are content with one that its own holder wrote", () => {
    expect(look()).toEqual([]);
  });

  test("find two of them, one that was taken back, one under a foreign epoch", () => {
    expect(look(outcomeRow("t"), [...audit, outcome(3, "t", { epoch: 1 })])).toEqual(["t got 2 outcomes"]);
    expect(
      look(outcomeRow("t"), [...audit, { kind: "outcomeGone", at: 3, stamp: 3, task: "t" }]),
    ).toHaveLength(1);
    expect(look(outcomeRow("t", { epoch: 9 }))).toHaveLength(1);
  });

  test("find a result that was made under another epoch than the outcome names", () => {
    expect(look(outcomeRow("t", { body: '{"fence":9}' }))).toEqual([
      "the outcome of t names epoch 1, but its result was made under 9",
    ]);
  });

  test("find success without its effect, and more attempts than allowed", () => {
    expect(look(outcomeRow("t"), audit, [])).toHaveLength(1);
    expect(look(outcomeRow("t", { attempt: 2 }), audit, [effect(1, "task:t", 1)], 1)).toEqual([
      "t says 2 attempts of 1",
    ]);
  });
});

describe("stopping", () => {
  const told: Stopped = { pid: 7, told: 100, gone: 900, code: "0" };
  const audit = [session(0, "s", 9_000), claim(90, 1, { task: "t" })];
  const look = (
    stopped: Stopped,
    events = audit,
    visits = [visit(95, 200, 1)],
    impairments: Impairment[] = [],
  ) =>
    checkStopping({ stopped: [stopped], lives: livesOf(events), visits, impairments, graceMs: 1_000 })
      .violations;
  const back = (attempt: number) => [...audit, release(150, 1, { task: "t" }), waiting(150, "t", attempt, 0)];

  test("is content when what had begun ends and what had not is given back", () => {
    expect(look(told)).toEqual([]);
    expect(look(told, back(0), [])).toEqual([]);
  });

  test("finds an attempt that was burnt without having begun", () => {
    expect(look(told, back(1), [])).toHaveLength(1);
    // Unless the process that it was offered to had just been killed.
    expect(look(told, back(1), [], [{ pid: 8, parent: 7, why: "killed", from: 98, to: 99 }])).toEqual([]);
  });

  test("does not count time that the machine itself had not", () => {
    const late = { ...told, gone: 4_000 };
    const busy = (ms: number): Impairment[] => [{ pid: 0, why: "noise", from: 200, to: 200 + ms }];
    expect(look(late, audit, undefined, busy(2_500))).toEqual([]);
    expect(look(late, audit, undefined, busy(1_000))).toEqual(["pid 7 left 2900ms after it was told to"]);
  });

  test("leaves what was claimed under a lease that was lost to the judgement of leases", () => {
    expect(look(told, [...back(1), session(140, "anew", 9_000)], [])).toEqual([]);
  });

  test("finds who left too late, or in another way than asked", () => {
    expect(look({ ...told, gone: 9_000 })).toHaveLength(1);
    expect(look({ ...told, gone: 1_100, code: "1" })).toEqual([]);
    expect(look({ ...told, code: "1" })).toHaveLength(1);
    expect(look({ ...told, code: "SIGTERM" })).toHaveLength(1);
  });
});

describe("the rest", () => {
  test("quiescence finds work that never ended and what was left behind", () => {
    const healed = { tookMs: 5, boundMs: 10, left: "", openTransactions: 0 };
    expect(checkQuiescence(healed, tables()).violations).toEqual([]);
    expect(
      checkQuiescence({ ...healed, tookMs: undefined }, tables({ waiting: ["t"] })).violations,
    ).toHaveLength(2);
    expect(
      checkQuiescence({ ...healed, openTransactions: 1 }, tables({ sessions: ["s"] })).violations,
    ).toHaveLength(2);
  });

  test("an outage finds who ended and who spun", () => {
    expect(checkOutage({ lastedMs: 1_000, ended: [], busy: [0.02] }).violations).toEqual([]);
    expect(checkOutage({ lastedMs: 1_000, ended: ["worker 7"], busy: [0.9] }).violations).toHaveLength(2);
  });

  test("a child that outlives its worker is found, unless the machine had no time for it", () => {
    const orphans = [
      { pid: 8, from: 0, to: 4_900 },
      { pid: 9, from: 0, to: 6_000 },
    ];
    expect(lateOrphans(orphans, [])).toEqual(["child 9 outlived its worker by 6000ms"]);
    expect(lateOrphans(orphans, [{ pid: 0, why: "noise", from: 1_000, to: 3_000 }])).toEqual([]);
  });

  test("a run in which something never happened is vacuous, unless its store has no such thing", () => {
    expect(checkVacuity({ reclaims: 1, cuts: undefined }).violations).toEqual([]);
    expect(checkVacuity({ reclaims: 0 }).violations).toEqual(["vacuous: reclaims never happened"]);
  });
});
