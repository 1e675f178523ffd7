// The tasks of the shop. Their limits are in app.ts.

import { setTimeout as sleep } from "node:timers/promises";
import { task } from "sluice";

/**
 * Takes two of the five database slots, so only two charges run at once, although the queue would admit
 * three.
 */
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

export const checkFraud = task({
  id: "checkFraud",
  run: async ({ amount }: { amount: number }, { signal }) => {
    await sleep(between(200, 500), undefined, { signal });
    return { suspicious: amount > 990 };
  },
});

/** Each carrier has its own limit, because its API accepts one connection at a time. */
export const ship = task({
  id: "ship",
  pools: ({ carrier }: { carrier: string }) => ({ [`carrier=${carrier}`]: 1 }),
  run: async ({ carrier }: { carrier: string }, { id, signal }) => {
    await sleep(between(200, 600), undefined, { signal });
    return { carrier, parcel: id.slice(-6) };
  },
});

export const sendEmail = task({
  id: "sendEmail",
  queue: "email",
  run: async ({ to, about }: { to: string; about: unknown }, { signal }) => {
    await sleep(between(100, 400), undefined, { signal });
    return { sent: to, about };
  },
});

/** Keeps a processor busy, so as a step it runs in its own process. */
export const resize = task({
  id: "resize",
  cpu: true,
  run: ({ picture, width }: { picture: string; width: number }) => {
    const until = performance.now() + between(200, 500);
    while (performance.now() < until);
    return `${picture}@${width}`;
  },
});

export const fetchPrices = task({
  id: "fetchPrices",
  run: async ({ country }: { country: string }, { signal }) => {
    await sleep(between(300, 700), undefined, { signal });
    return { country, prices: Math.round(between(100, 200)) };
  },
});

export const publish = task({
  id: "publish",
  run: async (_: { what: unknown }, { signal }) => {
    await sleep(between(200, 400), undefined, { signal });
    return { at: new Date().toISOString() };
  },
});

export const report = task({
  id: "report",
  queue: "reports",
  pools: { database: 1 },
  run: async ({ of }: { of: string }, { signal, progress }) => {
    for (let page = 1; page <= 5; page += 1) {
      await sleep(between(100, 300), undefined, { signal });
      progress({ page, of: 5 });
    }
    return { of, pages: 5 };
  },
});

function between(low: number, high: number): number {
  return low + Math.random() * (high - low);
}
