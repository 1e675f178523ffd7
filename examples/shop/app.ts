// A small shop that uses every kind of limit. Run it with `npm start`, then ask from another terminal why
// something waits.

import { automation, defineApp, newer, parallel, schedule, sensor } from "sluice";
import * as tasks from "./tasks.ts";
import { catalogue, closeBooks, order, storefront } from "./workflows.ts";

export { onDev } from "./on-dev.ts";

export default defineApp({
  tasks: Object.values(tasks),
  workflows: [catalogue, order, closeBooks, storefront],

  // All steps and tasks, on all workers together.
  clusterCap: 15,
  queues: {
    stripe: { rank: 1, maxConcurrency: 3 },
    default: { rank: 20 },
    email: { rank: 50, maxConcurrency: 10 },
    reports: { rank: 100, maxConcurrency: 2 },
  },
  pools: {
    database: { limit: 5, lease: "15s" }, // slots come back 15 s after their holder's last renewal
    carrier: { limit: 1, perValue: true },
  },

  // How many units may hold a semaphore; the first in line comes first.
  semaphores: { printer: 1 },

  // Limits for runs: of the whole store, and of each namespace.
  parallelism: 50,
  namespaceParallelism: 40,
  runs: {
    max: 6,
    tags: [
      { key: "batch", limit: 2 }, // all batches together
      { key: "env", value: "staging", limit: 1 },
      { key: "tenant", perValue: true, limit: 1 }, // one order per tenant at a time
    ],
  },

  // Limits for the steps of one run. `catalogue` and `closeBooks` set their own.
  executor: parallel({ maxAsyncConcurrent: 2 }),

  // Triggers: they start runs by themselves.
  schedules: [
    schedule({
      id: "books",
      workflow: closeBooks,
      cron: "*/20 * * * * *", // with seconds, so that something happens soon
      timezone: "Europe/Berlin",
      overlap: "skip",
    }),
  ],
  sensors: [
    sensor({
      id: "uploads",
      workflow: catalogue,
      every: "12s",
      run: ({ cursor = 0 }: { cursor: number }) => ({
        cursor: cursor + 1,
        submit: [{ key: `upload-${cursor}` }], // a key that was already used creates no second run
      }),
    }),
  ],
  automations: [automation({ workflow: storefront, when: newer(catalogue) })],
});
