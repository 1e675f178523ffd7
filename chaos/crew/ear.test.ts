import { availableParallelism } from "node:os";
import { afterEach, expect, test } from "vitest";
import { Ear } from "./ear.ts";

let ear: Ear;
afterEach(() => ear.stop());

/** Listens every 50 ms, each time with this many ready threads per processor. */
function heard(...crowds: readonly number[]): (readonly [number, number])[] {
  ear = new Ear(() => 0);
  ear.stop();
  const begin = Date.now();
  crowds.forEach((crowd, index) => {
    ear.listen(begin + index * 50, crowd * availableParallelism());
  });
  return ear.noise.map(({ from, to }) => [from - begin, to - begin] as const);
}

test("a machine on which everybody finds a processor is quiet", () => {
  expect(heard(1, 2, 1, 0, 1, 3, 9, 1, 0, 1)).toEqual([]);
});

test("a machine on which many want each processor is noisy for as long", () => {
  expect(heard(1, 1, 1, 1, 1, 6, 7, 6, 8, 6, 1, 1, 1, 1, 1)).toEqual([[200, 450]]);
});

test("who is woken much too late has heard noise", () => {
  ear = new Ear(() => 0);
  ear.stop();
  const begin = Date.now();
  ear.listen(begin, 0);
  ear.listen(begin + 400, 0);
  expect(ear.noise).toMatchObject([{ pid: 0, why: "noise", from: begin, to: begin + 400 }]);
});
