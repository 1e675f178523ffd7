import { expect, test } from "vitest";
import { defineApp } from "../../api/app.ts";
import type { LimitView } from "../../api/limits.ts";
import { task } from "../../core/task/definition.ts";
import { workflow } from "../../core/workflow/definition.ts";
import { banner } from "./banner.ts";

const only = task({ id: "only", run: () => 1 });
const sweep = workflow({ id: "sweep", steps: (s) => s.step("one", only) });
const app = defineApp({ tasks: [only], workflows: [sweep] });

const limit = (key: string, more: Partial<LimitView>): LimitView => ({
  key,
  limit: -1,
  declared: -1,
  perValue: false,
  paused: false,
  line: "skip",
  leaseMs: null,
  setBy: null,
  setAt: null,
  held: 0,
  said: [],
  draining: false,
  source: "default",
  stopping: [],
  ...more,
});

const said = (
  file: string,
  limits: readonly LimitView[] = [],
  ranks: ReadonlyMap<string, number> = new Map(),
): string =>
  banner({ mode: "dev", file, app, limits, ranks, options: { grace: "1s", stopGrace: "1s" }, slots: 1 });

test("the banner's commands name the file so that a shell finds it", () => {
  expect(said("sub/deep/app.ts")).toContain("sluice submit sub/deep/app.ts sweep --watch");
  expect(said("/elsewhere/app.ts")).toContain("sluice submit /elsewhere/app.ts sweep --watch");
  expect(said("my jobs/app.ts")).toContain("sluice submit 'my jobs/app.ts' sweep --watch");
});

test("the banner tells of changed limits, and not of what single runs have for themselves", () => {
  const changed = [
    limit("queue:default", { paused: true }),
    limit("run:01m7/async", { paused: true }),
    limit("run:01m8/items/each", { source: "operator", limit: 3 }),
  ];
  const line = said("app.ts", changed)
    .split("\n")
    .find((each) => each.includes("Changed"));
  expect(line).toContain("queue:default=∞ paused");
  expect(line).not.toContain("run:");
  expect(said("app.ts", changed.slice(1))).not.toContain("Changed");
});

test("the banner shows the rank in force, and the rank of this file where that does not apply", () => {
  const ranked = defineApp({ tasks: [only], queues: { mail: { rank: 5 }, default: {} } });
  const line = (ranks: ReadonlyMap<string, number>): string | undefined =>
    banner({
      mode: "worker",
      file: "app.ts",
      app: ranked,
      limits: [],
      ranks,
      options: { grace: "1s", stopGrace: "1s" },
      slots: 1,
    })
      .split("\n")
      .find((each) => each.includes("Queues"));
  expect(
    line(
      new Map([
        ["mail", 50],
        ["default", 7],
      ]),
    ),
  ).toMatch(/mail \(rank 50, not 5, max ∞\), default \(rank 7, max ∞\)$/);
  expect(line(new Map([["mail", 5]]))).toMatch(/mail \(rank 5, max ∞\), default \(rank 100, max ∞\)$/);
});
