import { describe, expect, test } from "vitest";
import type { Audited, Impairment, Visit } from "../history.ts";
import { checkGrants } from "./grants.ts";
import { checkLeases } from "./leases.ts";
import { livesOf } from "./lives.ts";
import { checkOverlap } from "./overlap.ts";
import { claim, LANES, limit, outcome, release, session, visit, waiting } from "./planted.ts";

const LEASE = 3_000;
const limits = [limit(0, "cluster", 10), limit(0, "pool:a", 1)];

const look = (audit: readonly Audited[], visits: readonly Visit[], impairments: readonly Impairment[] = []) =>
  checkOverlap({
    visits,
    effects: [],
    impairments,
    lives: livesOf(audit),
    sweep: checkGrants(audit, LANES),
    leaseMs: LEASE,
  });

/** Epoch 1 is lost by its holder, pid 7, when its lease ends at 4000. Epoch 2 takes its place. */
const lostAndTaken = [
  ...limits,
  session(1_000, "s", 4_000),
  session(0, "new", 90_000, 8),
  claim(1_100, 1, { task: "t" }),
  release(4_100, 1, { task: "t" }),
  waiting(4_100, "t", 1, 1),
  claim(4_100, 2, { task: "t", session: "new" }),
];
const frozen: Impairment = { pid: 7, why: "frozen", from: 1_200, to: 6_000 };

describe("physical overlap", () => {
  test("is content when code leaves before its claim does", () => {
    const audit = [...limits, session(0, "s", 9_000), claim(100, 1), release(300, 1), outcome(300, "t1")];
    expect(look(audit, [visit(110, 250, 1)])).toMatchObject({ violations: [], ghosts: 0, beyond: 0 });
  });

  test("traces an overlap to a holder that was frozen", () => {
    const found = look(lostAndTaken, [visit(1_110, 6_010, 1), visit(4_110, 6_500, 2, { pid: 8 })], [frozen]);
    expect(found).toMatchObject({ violations: [], ghosts: 1, beyond: 1 });
  });

  test("finds a holder that outlived its claim although nobody had frozen it", () => {
    const found = look(lostAndTaken, [visit(1_110, 6_010, 1), visit(4_110, 6_500, 2, { pid: 8 })]);
    expect(found.violations).toEqual([
      "quick t1 (epoch 1, pid 7) ran 2010ms beyond its claim, and nobody had frozen or cut it off",
    ]);
  });

  test("takes a busy machine for the cause of a lease that ran out, and of nothing else", () => {
    const busy: Impairment = { ...frozen, pid: 0, why: "noise" };
    expect(look(lostAndTaken, [visit(1_110, 6_010, 1)], [busy]).violations).toEqual([]);
    const cancelled = [
      ...limits,
      session(0, "s", 90_000),
      claim(1_100, 1),
      release(4_100, 1),
      outcome(4_100, "t1", { state: "cancelled" }),
    ];
    expect(look(cancelled, [visit(1_110, 6_010, 1)], [busy]).violations).toHaveLength(1);
  });

  test("is not content with another process that was frozen, or with a short cut", () => {
    const visits = [visit(1_110, 6_010, 1)];
    expect(look(lostAndTaken, visits, [{ ...frozen, pid: 99 }]).violations).toHaveLength(1);
    expect(look(lostAndTaken, visits, [{ ...frozen, why: "cut", to: 1_700 }]).violations).toHaveLength(1);
  });

  test("finds two inside a gate of one that both have a claim", () => {
    const audit = [...limits, session(0, "s", 9_000), claim(100, 1), claim(150, 2)];
    expect(look(audit, [visit(110, 300, 1), visit(160, 300, 2)]).violations).toEqual([
      "pool:a: 2/1 inside at 160, all with a claim (t2)",
    ]);
  });

  test("finds code that runs under an epoch nobody granted", () => {
    expect(look(limits, [visit(1, 2, 5)]).violations).toHaveLength(1);
  });
});

describe("lost leases", () => {
  const losses = (
    audit: readonly Audited[],
    impairments: readonly Impairment[],
    visits: readonly Visit[] = [],
  ) => checkLeases({ lives: livesOf(audit), visits, impairments, leaseMs: LEASE }).violations;

  test("are lost for a cause: killed, frozen, told to stop", () => {
    for (const why of ["killed", "frozen", "told to stop"] as const)
      expect(losses(lostAndTaken, [{ ...frozen, why }])).toEqual([]);
  });

  test("are not lost by a short cut, or for nothing", () => {
    expect(losses(lostAndTaken, [])).toHaveLength(1);
    expect(losses(lostAndTaken, [{ pid: 7, why: "cut", from: 1_500, to: 2_000 }])).toHaveLength(1);
  });

  test("are never taken from a session that is alive", () => {
    const alive = lostAndTaken.map((event) =>
      event.kind === "session" && event.session === "s" ? session(1_000, "s", 9_000) : event,
    );
    expect(losses(alive, [frozen])).toEqual([
      "t (epoch 1) was taken from session s, which was alive for another 4900ms",
    ]);
    // A worker may give up a claim whose child process has died.
    expect(losses(alive, [], [visit(1_110, 2_500, 1, { left: false })])).toEqual([]);
    // It must do so soon.
    expect(losses(alive, [], [visit(1_110, 2_000, 1, { left: false })])).toEqual([
      "t (epoch 1) was given up 2100ms after its process had died",
    ]);
  });
});
