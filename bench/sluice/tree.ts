// A tree of child runs, and one flat run: how fast steps end, at the beginning and at the end. All of it happens in one
// process, so the tasks themselves note when they ran.
import type { Reference } from "../../src/index.ts";
import { asChild } from "../child.ts";
import { now } from "../measure.ts";
import { connect, defineApp, task, workflow } from "./built.ts";

export interface Grown {
  url: string;
  children: number;
  /** The steps of each child. For a flat run, those of the run itself. */
  steps: number;
  /** How many children are in progress at once. 0 makes a flat run. */
  beside: number;
}

export interface Pace {
  /** Milliseconds per step, in the second tenth of all steps and in the last but one. */
  earlyMs: number;
  lateMs: number;
  /** The same for the whole run. */
  allMs: number;
}

await asChild(import.meta.url, async ({ url, children, steps, beside }: Grown): Promise<Pace> => {
  const ended: number[] = [];
  const tick = task({ id: "tick", run: () => void ended.push(now()) });
  const child = workflow({
    id: "child",
    steps: (s) => {
      for (let index = 0; index < steps; index += 1) s.step(`s${index}`, tick);
    },
  });
  const tree = workflow({
    id: "tree",
    steps: (s, list: Reference<number[]>) => {
      s.each("each", list, child, { concurrency: Math.max(1, beside), input: () => undefined });
    },
  });
  const app = defineApp({ tasks: [tick], workflows: [tree, child] });
  const sluice = await connect({ store: url, app, migrate: true });
  await sluice.worker({ slots: 50 });
  const list = Array.from({ length: children }, (_, n) => n);
  const began = now();
  const { id } = await (beside === 0 ? sluice.submit(child, undefined) : sluice.submit(tree, list));
  const { state, error } = await sluice.runs.ended(id);
  if (state !== "succeeded") throw new Error(`the run ${state}: ${JSON.stringify(error)}`);
  await sluice.close();
  const tenth = Math.floor(ended.length / 10);
  const per = (from: number): number => ((ended[from + tenth] ?? 0) - (ended[from] ?? 0)) / tenth;
  return {
    earlyMs: per(tenth),
    lateMs: per(ended.length - 2 * tenth),
    allMs: ((ended.at(-1) ?? 0) - began) / ended.length,
  };
});
