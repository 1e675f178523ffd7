import { dirname, join, resolve as pathResolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

const source = (path: string): string => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

const resolve = {
  // Examples import "sluice" as users do. Tests must meet the same module instances they import by path.
  alias: [
    { find: /^sluice$/, replacement: source("index.ts") },
    { find: /^sluice\/kubernetes$/, replacement: source("executor/kubernetes/index.ts") },
    { find: /^sluice\/store$/, replacement: source("store/index.ts") },
    { find: /^sluice\/testing$/, replacement: source("testing/index.ts") },
    { find: /^sluice\/testing\/store-suite$/, replacement: source("testing/store-suite/index.ts") },
    { find: /^sluice\/(sqlite|postgres|mysql|memory)$/, replacement: source("store/$1/index.ts") },
  ],
};

/**
 * What a test imports from our sources, it gets as plain JavaScript: see test/support/plain-source.ts. Tests that lie
 * beside the code are left to vitest, which can put other modules in the place of ours.
 */
const plainSource: Plugin = {
  name: "sluice-plain-source",
  enforce: "pre",
  resolveId(id, importer) {
    const plain = process.env.SLUICE_TEST_PLAIN_SOURCE;
    if (!plain || !importer || importer.startsWith(source("")) || !id.endsWith(".ts")) return null;
    const path = pathResolve(dirname(importer), id);
    if (!path.startsWith(source("")) || path.endsWith(".test.ts")) return null;
    return join(plain, `${path.slice(source("").length, -".ts".length)}.js`);
  },
};

const server = { deps: { external: [/\/sluice-modules-\w+\/src\//] } };

// No test is repeated until it passes: one that fails now and then is mended. See scripts/test.mjs.
const common = {
  pool: "forks",
  testTimeout: 120_000,
  hookTimeout: 120_000,
} as const;

/**
 * Files that take long; compare with what `npm test` prints at its end. vitest goes by the size of a file, and these are
 * mostly a line that calls a suite: they would begin when everything else is over, with nothing left to run beside them.
 */
const LONGEST = [
  "test/conformance/store.test.ts",
  "test/runs/killed.test.ts",
  "test/fan-out/killed-",
  "test/nested/killed-",
  "test/fan-out/at-once-",
  "test/conformance/",
  "test/fan-out/window-",
  "test/race/claimers-",
  "test/runs/queue.test.ts",
  "test/e2e/cli.test.ts",
  "test/process/worker-command.test.ts",
  "test/lanes/",
  "test/triggers/restarts-",
  "test/why/complete.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const found = LONGEST.findIndex((path) => moduleId.includes(`/${path}`));
      return found === -1 ? LONGEST.length : found;
    };
    const group = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    // Sorting is stable: what is not listed stays as it was.
    return sorted.sort((a, b) => group(a) - group(b) || rank(a) - rank(b));
  }
}

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
    // One group after the other; within a group the longest first, so that all workers end together.
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // Mostly they wait, for leases, polls and disks: one more than the smallest machine has processors.
        resolve,
        plugins: [plainSource],
        test: {
          ...common,
          server,
          name: "waiting",
          include: ["test/**/*.test.ts"],
          exclude: BUSY,
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve,
        plugins: [plainSource],
        test: {
          ...common,
          server,
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
