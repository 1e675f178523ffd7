// Workflows as steps of others, a workflow per item, groups, and a workflow that calls itself.

import type { Reference, WorkflowDefinition } from "sluice";
import { defineApp, greater, task, workflow } from "sluice";

interface Order {
  id: string;
  lines: string[];
}

const reserve = task({ id: "reserve", run: async (line: string) => `reserved ${line}` });
const label = task({ id: "label", run: async (order: string) => `label of ${order}` });
const lint = task({ id: "lint", run: async () => "fine" });
const scan = task({ id: "scan", run: async () => "clean" });
const publish = task({ id: "publish", run: async (_: { lint: string; scan: string }) => "published" });
const halve = task({ id: "halve", run: async (n: number) => Math.floor(n / 2) });
const report = task({ id: "report", run: async (labels: string[]) => labels.length });

export const shipOrder = workflow({
  id: "ship-order",
  timeout: "1h",
  steps: (s, order: Reference<Order>) => {
    const reserved = s.each("reserve", order.lines, reserve);
    return { label: s.step("label", label, order.id, { after: [reserved] }).output };
  },
});

export const shipAll = workflow({
  id: "ship-all",
  parallelism: 8,
  steps: (s, input: Reference<{ orders: Order[]; first: Order }>) => {
    const first = s.run("first", shipOrder, input.first);
    const rest = s.each("rest", input.orders, shipOrder, { concurrency: 3, after: [first] });
    return { first: first.output.label, rest: rest.output };
  },
});

export const publishSite = workflow({
  id: "publish-site",
  steps: (s) => {
    const checks = s.group("checks", { parallelism: 1 }, (g) => {
      const linted = g.step("lint", lint);
      const scanned = g.step("scan", scan);
      return { lint: linted.output, scan: scanned.output };
    });
    return s.step("publish", publish, checks.output);
  },
});

export const countDown: WorkflowDefinition<number, unknown> = workflow({
  id: "count-down",
  steps: (s, n: Reference<number>) => {
    const half = s.step("halve", halve, n);
    s.run("again", () => countDown, half.output, { when: greater(half.output, 0) });
    return half;
  },
});

export const nightly = workflow({
  id: "nightly",
  steps: (s, orders: Reference<Order[]>) => {
    const started = s.run("site", publishSite, undefined, {
      detached: { wait: false, tags: { env: "prod" } },
    });
    const labels = s.each("ship", orders, shipOrder);
    return { site: started.output.id, count: s.step("report", report, [], { after: [labels] }).output };
  },
});

export default defineApp({
  tasks: [reserve, label, lint, scan, publish, halve, report],
  workflows: [shipOrder, shipAll, publishSite, countDown, nightly],
});
