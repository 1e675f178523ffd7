// A workflow of one step over a list of no-op items, and the same work as plain tasks behind a queue's cap.
import type { Reference } from "../../src/index.ts";
import { defineApp, task, workflow } from "./built.ts";

export const plainQueue = "plain";

export function listApp(window: number) {
  const list = task({ id: "list", run: (count: number) => Array.from({ length: count }, (_, n) => n) });
  const item = task({ id: "item", queue: "items", run: (_: number) => {} });
  const plain = task({ id: "plain", queue: plainQueue, run: (_: number) => {} });
  const all = workflow({
    id: "all",
    steps: (s, count: Reference<number>) => {
      const items = s.step("list", list, count);
      return s.each("each", items.output, item, { concurrency: window });
    },
  });
  const app = defineApp({
    tasks: [list, item, plain],
    workflows: [all],
    queues: { items: {}, [plainQueue]: { maxConcurrency: window }, default: {} },
  });
  return { app, all, plain };
}
