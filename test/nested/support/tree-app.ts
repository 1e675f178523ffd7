// A tree of children with many steps each. Every step logs when it begins and ends, and in which process.

import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Reference } from "sluice";
import { defineApp, task, workflow } from "sluice";

interface Step {
  readonly log: string;
  readonly child: number;
  readonly step: number;
}

export const MOST = { items: 3, leaves: 5, inGroup: 2 } as const;

const work = task({
  id: "work",
  // A lost worker costs an attempt. Running out of attempts is not tested here.
  retry: { attempts: 1_000 },
  run: async ({ log, child, step }: Step) => {
    const note = (what: string): void => appendFileSync(log, `${what} ${child}/${step} ${process.pid}\n`);
    note("begin");
    await sleep(10 + ((child * 7 + step * 3) % 31));
    note("end");
    return step;
  },
});

function treeOf(size: number) {
  const child = workflow({
    id: `child${size}`,
    steps: (s, input: Reference<{ log: string; child: number }>) =>
      s.group("group", { parallelism: MOST.inGroup }, (g) =>
        Array.from(
          { length: size },
          (_, step) => g.step(`s${step}`, work, { ...fieldsOf(input), step }).output,
        ),
      ).output,
  });
  const tree = workflow({
    id: `tree${size}`,
    parallelism: MOST.leaves,
    steps: (s, input: Reference<{ log: string; children: number[] }>) =>
      s.each("children", input.children, child, {
        concurrency: MOST.items,
        input: (number) => ({ log: input.log, child: number }),
      }).output,
  });
  return [tree, child] as const;
}

const fieldsOf = ({ log, child }: Reference<{ log: string; child: number }>) => ({ log, child });

export default defineApp({
  tasks: [work],
  workflows: [...treeOf(12), ...treeOf(100)],
  // Longer than a busy machine stalls: a lost lease looks like a kill, and its code runs on for a moment.
  session: { lease: "3s", heartbeat: "500ms" },
});
