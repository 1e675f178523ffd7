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

const said = (file: string, limits: readonly LimitView[] = []): string =>
  banner({ mode: "dev", file, app, limits, options: { grace: "1s", stopGrace: "1s" }, slots: 1 });

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
