// `sluice dev` calls this once its worker runs. It submits more than the gates admit, then a little more
// every two seconds. Orders of one tenant always wait in line, so there is always a wait to ask about.

import { setTimeout as sleep } from "node:timers/promises";
import type { Sluice } from "sluice";
import { sendEmail, ship } from "./tasks.ts";
import { catalogue, closeBooks, order, storefront } from "./workflows.ts";

const TENANTS = ["acme", "bell", "crane", "dorn"];
/** So many runs wait at least, whenever we look. */
const WAITING = 6;

export async function onDev(sluice: Sluice, { signal }: { signal: AbortSignal }): Promise<void> {
  const buy = (n: number, tenant = TENANTS[n % TENANTS.length] as string): Promise<{ id: string }> => {
    const input = { orderId: `A-${n}`, email: `office@${tenant}.example`, amount: 100 + ((n * 370) % 900) };
    const env = n % 5 === 0 ? "staging" : "prod";
    return sluice.submit(order, input, { tags: { tenant, env }, priority: n % 7 === 0 ? 5 : 0 });
  };

  for (let n = 0; n < 12; n += 1) await buy(n);
  await sluice.submit(catalogue, undefined);
  // The mutex admits one of the two. The direct run bypasses the run cap but counts toward it.
  await sluice.submit(closeBooks, undefined);
  await sluice.submit(closeBooks, undefined);
  await sluice.execute(storefront, undefined);
  // Tasks without a run, at the same gates.
  await sluice.enqueueMany(
    ["dhl", "dhl", "ups", "ups"].map((carrier) => ({ task: ship, input: { carrier } })),
  );
  await sluice.enqueue(sendEmail, { to: "all@example.com", about: "sale" }, { delay: "20s" });

  for (let n = 12; !signal.aborted; n += 1) {
    await sleep(2_000, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    await buy(n);
    const { total } = await sluice.queue.page({ limit: 1 });
    for (let more = total; more < WAITING; more += 1) {
      n += 1;
      await buy(n, "acme");
    }
  }
}
