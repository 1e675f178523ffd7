// A small shop, and every limit there is. Run it with `npm start`, then ask from another terminal why something waits.

import { automation, defineApp, newer, parallel, schedule, sensor } from "sluice";
import * as tasks from "./tasks.ts";
import { catalogue, closeBooks, order, storefront } from "./workflows.ts";

export { onDev } from "./on-dev.ts";

export default defineApp({
  tasks: Object.values(tasks),
  workflows: [catalogue, order, closeBooks, storefront],

  // Steps and tasks, on all workers together.
  clusterCap: 15,
  queues: {
    stripe: { rank: 1, maxConcurrency: 3 },
    default: { rank: 20 },
    email: { rank: 50, maxConcurrency: 10 },
    reports: { rank: 100, maxConcurrency: 2 },
  },
  pools: {
    database: { limit: 5, lease: "15s" }, // slots come back 15 s after whoever held them was last heard of
    carrier: { limit: 1, perValue: true },
  },

  // Runs.
  runs: {
    max: 6,
    tags: [
      { key: "batch", limit: 2 }, // whatever the batch
      { key: "env", value: "staging", limit: 1 },
      { key: "tenant", perValue: true, limit: 1 }, // one order of each tenant
    ],
  },

  // The steps of one run; `catalogue` and `closeBooks` say it for themselves.
  executor: parallel({ maxAsyncConcurrent: 2 }),

  // What starts runs by itself.
  schedules: [
    schedule({
      id: "books",
      workflow: closeBooks,
      cron: "*/20 * * * * *", // with seconds, so that there is something to see
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
        submit: [{ key: `upload-${cursor}` }], // a key that was there already makes no second run
      }),
    }),
  ],
  automations: [automation({ workflow: storefront, when: newer(catalogue) })],
});
