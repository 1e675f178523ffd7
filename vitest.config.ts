import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

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
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "chaos/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
  },
});
