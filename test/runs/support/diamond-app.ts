// Diamonds whose steps report where their code ran. Tests, the children of their workers, and `sluice worker`
// load this app.

import type { ExecutorChoice, Reference, TaskDefinition } from "sluice";
import { defineApp, inProcess, parallel, task, workflow } from "sluice";

export interface Sum {
  readonly plus: number;
  readonly to: number;
}

export interface Answer {
  readonly value: number;
  readonly pid: number;
}

const here = ({ to, plus }: Sum): Answer => ({ value: to + plus, pid: process.pid });

const add = task({ id: "add", run: async (sum: Sum) => here(sum) });
const addBusily = task({ id: "addBusily", cpu: true, run: (sum: Sum) => here(sum) });

/** Computes n, then n + 1 and n + 10 in parallel, then their sum. */
function diamond(id: string, executor: ExecutorChoice, called: TaskDefinition<Sum, Answer>) {
  return workflow({
    id,
    executor,
    steps: (s, input: Reference<{ n: number }>) => {
      const top = s.step("top", called, { to: input.n, plus: 0 });
      const left = s.step("left", called, { to: top.output.value, plus: 1 });
      const right = s.step("right", called, { to: top.output.value, plus: 10 });
      const bottom = s.step("bottom", called, { to: left.output.value, plus: right.output.value });
      return {
        sum: bottom.output.value,
        pids: [top.output.pid, left.output.pid, right.output.pid, bottom.output.pid],
      };
    },
  });
}

export const serial = diamond("serial", inProcess(), add);
export const sideBySide = diamond("sideBySide", parallel(), add);
export const inPool = diamond("inPool", parallel({ maxWorkers: 2 }), addBusily);

export default defineApp({ tasks: [add, addBusily], workflows: [serial, sideBySide, inPool] });
