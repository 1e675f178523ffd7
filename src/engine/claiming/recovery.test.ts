import { describe, expect, test } from "vitest";
import type { LostRow, Recovery, View } from "../../store/store.ts";
import { newsOf, recoveries } from "./recovery.ts";

const NOW = 5_000;
const RETRIED = JSON.stringify({
  retry: { attempts: 3, delayMs: 1, maxDelayMs: 1, backoff: "fixed", jitter: 0 },
});

const lost = (more: Partial<LostRow> = {}): LostRow => ({
  id: "a",
  epoch: 9,
  lane: "lane",
  started: true,
  attempt: 1,
  losses: 0,
  goodUntil: null,
  options: RETRIED,
  input: null,
  ...more,
});

const viewOf = (rows: readonly LostRow[]): View => ({
  now: NOW,
  gates: [],
  usage: [],
  lanes: [],
  heads: [],
  prefetched: [],
  sessions: [],
  lost: rows,
  beyond: [],
});

const recovered = (...rows: readonly LostRow[]): Recovery[] => recoveries(viewOf(rows));

const codeOf = ([first]: readonly Recovery[]): unknown => first?.body && JSON.parse(first.body).code;

describe("a claim whose holder is gone", () => {
  test("is tried again while attempts are left, and says why", () => {
    const found = recovered(lost());
    expect(found).toMatchObject([{ id: "a", epoch: 9, to: "retry" }]);
    expect(codeOf(found)).toBe("LEASE_LOST");
  });

  test("fails when its attempts are used up", () => {
    const found = recovered(lost({ attempt: 3 }));
    expect(found).toMatchObject([{ to: "failed" }]);
    expect(codeOf(found)).toBe("LEASE_LOST");
  });

  test("is quarantined with its third loss, whatever attempts are left", () => {
    expect(recovered(lost({ losses: 1, attempt: 2 }))).toMatchObject([{ to: "retry" }]);
    const found = recovered(lost({ losses: 2, attempt: 2 }));
    expect(found).toMatchObject([{ to: "quarantined" }]);
    expect(codeOf(found)).toBe("QUARANTINED");
  });

  test("expires when its deadline has passed", () => {
    expect(recovered(lost({ goodUntil: NOW }))).toMatchObject([{ to: "expired" }]);
    expect(recovered(lost({ goodUntil: NOW + 1 }))).toMatchObject([{ to: "retry" }]);
  });

  test("goes back to its place when it never began, for it has lost nothing", () => {
    const never = { started: false, attempt: 1, options: "{}", losses: 2 };
    expect(recovered(lost(never))).toEqual([{ id: "a", epoch: 9, to: "waiting", body: null }]);
    expect(recovered(lost({ ...never, goodUntil: NOW }))).toMatchObject([{ to: "expired" }]);
  });

  test("is decided by its own row, each of them", () => {
    const ways = recovered(lost(), lost({ id: "b", attempt: 3 }), lost({ id: "c", started: false }));
    expect(ways.map(({ id, to }) => `${id} ${to}`)).toEqual(["a retry", "b failed", "c waiting"]);
  });
});

describe("a run that nobody started in time", () => {
  const run = (onStartTimeout: string) => lost({ options: JSON.stringify({ onStartTimeout }) });

  test("goes back in line, as often as it takes, where it is to be queued again", () => {
    expect(recovered({ ...run("requeue"), losses: 9 })).toEqual([
      { id: "a", epoch: 9, to: "waiting", body: null },
    ]);
  });

  test("fails where it is to fail, and says why", () => {
    const found = recovered(run("fail"));
    expect(found).toMatchObject([{ to: "failed" }]);
    expect(codeOf(found)).toBe("START_TIMEOUT");
  });
});

describe("a run hears of a step that was lost", () => {
  const step = (more: Partial<LostRow>) =>
    lost({
      options: JSON.stringify({ ...JSON.parse(RETRIED), step: { run: "r", name: "work" } }),
      ...more,
    });
  const heard = (...rows: readonly LostRow[]) => newsOf(viewOf(rows), recovered(...rows));

  test("when that has come to its end, and not while it is tried again", () => {
    expect(heard(step({ attempt: 3 }))).toEqual([{ run: "r", failed: "work" }]);
    expect(heard(step({ losses: 2 }))).toEqual([{ run: "r", failed: "work" }]);
    expect(heard(step({ attempt: 1 }))).toEqual([]);
    expect(heard(step({ started: false }))).toEqual([]);
  });

  test("and of a plain task nobody hears", () => {
    expect(heard(lost({ attempt: 3 }))).toEqual([]);
  });
});

test("options that cannot be read mean that a lost claim is not tried again", () => {
  expect(recovered(lost({ options: "not json" }))).toMatchObject([{ to: "failed" }]);
});
