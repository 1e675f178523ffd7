// Three diamonds, one after the other, whose steps log when they begin and end.

import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Reference } from "sluice";
import { defineApp, parallel, task, workflow } from "sluice";

interface Step {
  readonly log: string;
  readonly name: string;
  readonly from: readonly number[];
  readonly plus: number;
}

/** Appending one line is atomic, however many processes write. */
const note = (log: string, line: string): void => appendFileSync(log, `${line}\n`);

const sum = ({ from, plus }: Step): number => from.reduce((all, each) => all + each, plus);

const add = task({
  id: "add",
  // A lost worker costs an attempt. Running out of attempts is not tested here.
  retry: { attempts: 1_000 },
  run: async (step: Step) => {
    note(step.log, `begin ${step.name}`);
    // Takes 2 to 50 ms, depending on the step's name.
    await sleep(2 + ([...step.name].reduce((all, letter) => all * 31 + letter.charCodeAt(0), 7) % 49));
    note(step.log, `end ${step.name}`);
    return sum(step);
  },
});

/** The number of parallel steps. */
export type Width = 25 | 60;

const DIAMONDS = ["a", "b", "c"];

function chain(width: Width) {
  return workflow({
    id: `chain${width}`,
    executor: parallel(),
    steps: (s, input: Reference<{ log: string }>) => {
      const { log } = input;
      const first = s.step("start", add, { log, name: "start", from: [], plus: 1 });
      return DIAMONDS.reduce((top, diamond) => {
        const sides = Array.from({ length: width }, (_, index) => {
          const name = `${diamond}${index}`;
          return s.step(name, add, { log, name, from: [top.output], plus: index });
        });
        const from = sides.map(({ output }) => output);
        return s.step(diamond, add, { log, name: diamond, from, plus: 0 });
      }, first);
    },
  });
}

/** The expected result of each step. */
export function expected(width: Width): Record<string, number> {
  const results: Record<string, number> = { start: 1 };
  let top = 1;
  for (const diamond of DIAMONDS) {
    const sides = Array.from({ length: width }, (_, index) => top + index);
    sides.forEach((value, index) => {
      results[`${diamond}${index}`] = value;
    });
    top = sides.reduce((all, each) => all + each, 0);
    results[diamond] = top;
  }
  return results;
}

export default defineApp({
  tasks: [add],
  workflows: [chain(25), chain(60)],
  session: { lease: "1s", heartbeat: "250ms" },
});
