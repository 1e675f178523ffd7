import { expect, test } from "vitest";
import { AmbiguousCommit, isAmbiguous, isConnectionLoss, isLostRace, pauseMs } from "./retry.ts";

const coded = (code: string): Error => Object.assign(new Error("no words are read"), { code });

test("a lost race is told by the code of every database: it is done again as a whole", () => {
  const races = ["40001", "40P01", "55P03", "23505"];
  const onMysql = ["ER_LOCK_DEADLOCK", "ER_LOCK_WAIT_TIMEOUT", "ER_DUP_ENTRY", "ER_CHECKREAD"];
  expect([...races, ...onMysql].filter((code) => !isLostRace(coded(code)))).toEqual([]);
  for (const other of [coded("42P01"), coded("ECONNRESET"), new Error("deadlock detected"), null, undefined])
    expect(isLostRace(other)).toBe(false);
});

test("a connection that was lost is told by its code, and is no race", () => {
  const lost = ["25P03", "57P01", "57P03", "08006", "ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT"];
  const onMysql = ["PROTOCOL_CONNECTION_LOST", "ER_CLIENT_INTERACTION_TIMEOUT", "4031"];
  expect([...lost, ...onMysql].filter((code) => !isConnectionLoss(coded(code)))).toEqual([]);
  expect(isConnectionLoss(coded("40P01"))).toBe(false);
});

test("a commit of which nobody knows whether it happened says so, and keeps its cause", () => {
  const cause = coded("ECONNRESET");
  const error = new AmbiguousCommit(cause);
  expect([isAmbiguous(error), error.code, error.cause]).toEqual([true, "AMBIGUOUS_COMMIT", cause]);
  expect(isAmbiguous(cause)).toBe(false);
});

test("those who lost a race come back spread over a time that doubles, up to a quarter of a second", () => {
  expect([0, 1, 2, 5, 6, 12].map((attempt) => pauseMs(attempt, 1))).toEqual([4, 8, 16, 128, 250, 250]);
  expect([pauseMs(6, 0), pauseMs(6, 0.5)]).toEqual([0, 125]);
});
