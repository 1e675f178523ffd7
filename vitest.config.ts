import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

/** It puts another module in the place of one that others import as it is. */
const ALONE = "src/executor/process/child.test.ts";

export default defineConfig({
  resolve: {
    // Examples import "sluice" as users do. Tests must meet the same module instances they import by path.
    alias: [
      { find: /^sluice$/, replacement: source("index.ts") },
      { find: /^sluice\/kubernetes$/, replacement: source("executor/kubernetes/index.ts") },
      { find: /^sluice\/testing$/, replacement: source("testing/index.ts") },
      { find: /^sluice\/(sqlite|postgres|mysql|memory)$/, replacement: source("store/$1/index.ts") },
    ],
  },
  test: {
    pool: "forks",
    // One more than the smallest machine has processors: much of what the tests do is wait, for leases, polls and disks.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
    // In the order of their names, so that what is short comes last and both workers end at about the same time.
    projects: [
      {
        extends: true,
        test: {
          name: "processes",
          include: ["test/**/*.test.ts", ALONE],
          globalSetup: ["test/support/global-setup.ts"],
        },
      },
      {
        // Many small files: to start a process for each of them takes longer than all they do.
        extends: true,
        test: {
          name: "units",
          include: ["src/**/*.test.ts", "chaos/**/*.test.ts"],
          exclude: [ALONE],
          isolate: false,
        },
      },
    ],
  },
});
