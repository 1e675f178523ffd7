import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

const resolve = {
  // Examples import "sluice" as users do. Tests must meet the same module instances they import by path.
  alias: [
    { find: /^sluice$/, replacement: source("index.ts") },
    { find: /^sluice\/kubernetes$/, replacement: source("executor/kubernetes/index.ts") },
    { find: /^sluice\/testing$/, replacement: source("testing/index.ts") },
    { find: /^sluice\/(sqlite|postgres|mysql|memory)$/, replacement: source("store/$1/index.ts") },
  ],
};

// A machine that stalls for a moment fails a test of leases once. A real fault fails twice.
const common = {
  pool: "forks",
  testTimeout: 60_000,
  hookTimeout: 120_000,
  retry: process.env.CI ? 1 : 0,
} as const;

/** Each of them keeps two processors busy by itself. */
const BUSY = [
  "test/conformance/*.test.ts",
  "test/doctor/healthy.test.ts",
  "test/e2e/caps.test.ts",
  "test/fan-out/{at-once,killed,window}-*.test.ts",
  "test/feed/model-*.test.ts",
  "test/race/claimers-*.test.ts",
  "test/runs/{killed,queue}.test.ts",
];

/** It puts another module in the place of one that others import as it is. */
const ALONE = "src/executor/process/child.test.ts";

export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    teardownTimeout: 60_000,
    // One group after the other; within a group by name, so that what is short comes last and all workers end together.
    projects: [
      {
        // Mostly they wait, for leases, polls and disks: one more than the smallest machine has processors.
        resolve,
        test: {
          ...common,
          name: "waiting",
          include: ["test/**/*.test.ts"],
          exclude: BUSY,
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve,
        test: {
          ...common,
          name: "busy",
          include: [...BUSY, ALONE],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Many small files: to start a process for each of them takes longer than all they do.
        resolve,
        test: {
          ...common,
          name: "units",
          include: ["src/**/*.test.ts", "chaos/**/*.test.ts", "mutants/**/*.test.ts"],
          exclude: [ALONE],
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
