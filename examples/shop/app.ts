// A small shop: charges, mails and reports share a few workers, a payment provider and a database.
// Run it with `npm start`, then ask from another terminal why something waits: `npx sluice why ID`.

import { setTimeout as sleep } from "node:timers/promises";
import type { Sluice } from "sluice";
import { defineApp, task } from "sluice";

// Two slots of the database each, so only two charges fit into its five, though the queue would let three run.
export const charge = task({
  id: "charge",
  queue: "stripe",
  pools: { database: 2 },
  retry: { attempts: 5, backoff: "exponential", delay: "500ms" },
  timeout: "30s",
  run: async ({ orderId }: { orderId: string }, { signal, fence }) => {
    await sleep(between(300, 900), undefined, { signal });
    if (Math.random() < 0.1) throw new Error("the card terminal did not answer");
    return { orderId, receipt: `R-${fence}` };
  },
});

export const sendEmail = task({
  id: "sendEmail",
  queue: "email",
  run: async ({ to }: { to: string }, { signal }) => {
    await sleep(between(100, 400), undefined, { signal });
    return { sent: to };
  },
});

export const report = task({
  id: "report",
  queue: "reports",
  pools: { database: 1 },
  run: async ({ month }: { month: string }, { signal, progress }) => {
    for (let page = 1; page <= 10; page += 1) {
      await sleep(between(150, 350), undefined, { signal });
      progress({ page, of: 10 });
    }
    return { month, pages: 10 };
  },
});

export default defineApp({
  tasks: [charge, sendEmail, report],
  clusterCap: 15,
  queues: {
    stripe: { rank: 1, maxConcurrency: 3 },
    email: { rank: 50, maxConcurrency: 10 },
    reports: { rank: 100, maxConcurrency: 2 },
  },
  pools: { database: { limit: 5 } },
});

/** `sluice dev` calls this once its worker runs: something to look at, and then a little more every second. */
export async function onDev(sluice: Sluice, { signal }: { signal: AbortSignal }): Promise<void> {
  const month = (n: number): string => `2026-${String((n % 12) + 1).padStart(2, "0")}`;
  await sluice.enqueueMany([
    ...Array.from({ length: 14 }, (_, n) => ({ task: charge, input: { orderId: `A-${n}` } })),
    ...Array.from({ length: 20 }, (_, n) => ({ task: sendEmail, input: { to: `user${n}@example.com` } })),
    ...Array.from({ length: 6 }, (_, n) => ({ task: report, input: { month: month(n) } })),
  ]);
  // One for later, and one that is not worth starting any more when its turn comes.
  await sluice.enqueue(sendEmail, { to: "later@example.com" }, { delay: "20s" });
  await sluice.enqueue(report, { month: "2025-12" }, { goodUntil: "3s" });

  for (let n = 100; !signal.aborted; n += 1) {
    await sleep(1000, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    await sluice.enqueue(charge, { orderId: `A-${n}` });
    await sluice.enqueue(sendEmail, { to: `user${n}@example.com` });
    if (n % 8 === 0)
      await sluice.enqueueMany(
        Array.from({ length: 6 }, (_, of) => ({ task: report, input: { month: month(of) } })),
      );
  }
}

function between(low: number, high: number): number {
  return low + Math.random() * (high - low);
}
