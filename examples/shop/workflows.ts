// The workflows of the shop: an order, a catalogue, the books. A step starts as soon as its inputs are there.

import { greater, inProcess, parallel, workflow } from "sluice";
import { z } from "zod";
import { charge, checkFraud, fetchPrices, publish, report, resize, sendEmail, ship } from "./tasks.ts";

/** Large orders are checked for fraud first. The parcel is prepared while the payment is processed. */
export const order = workflow({
  id: "order",
  timeout: "5m",
  failFast: true,
  input: z.object({ orderId: z.string(), email: z.email(), amount: z.number() }),
  steps: (s, input) => {
    const fraud = s.step("fraud", checkFraud, { amount: input.amount }, { when: greater(input.amount, 500) });
    const looked = { after: [fraud.finished] };
    const paid = s.step("charge", charge, { orderId: input.orderId }, looked);
    const parcel = s.step("ship", ship, { carrier: "dhl" }, { ...looked, pools: { "carrier=dhl": 1 } });
    const about = { receipt: paid.output.receipt, parcel: parcel.output.parcel };
    s.step("thank", sendEmail, { to: input.email, about }, { mayFail: true });
    s.step("apologize", sendEmail, { to: input.email, about: "no money" }, { after: [paid.failed] });
    return about;
  },
});

/**
 * Resizes two pictures at a time in processes. Next to them it fetches a list of countries, two at a time.
 */
export const catalogue = workflow({
  id: "catalogue",
  tags: { batch: "catalogue" },
  executor: parallel({ maxWorkers: 2, maxAsyncConcurrent: 3 }),
  steps: (s) => {
    const pictures = ["chair", "table", "lamp"].flatMap((picture) =>
      [320, 1280].map((width) => s.step(`${picture}-${width}`, resize, { picture, width })),
    );
    const countries = ["de", "fr", "it", "es", "pl"].map((country) => ({ country }));
    const prices = s.each("prices", countries, fetchPrices, { concurrency: 2 });
    const what = {
      pictures: pictures.map((picture) => picture.output),
      prices: prices.output,
    };
    return s.step("publish", publish, { what });
  },
});

/** One report after the other, and never two runs at the same time, however they are started. */
export const closeBooks = workflow({
  id: "closeBooks",
  tags: { batch: "books" },
  executor: inProcess(),
  mutexes: ["books"],
  steps: (s) => {
    const sales = s.step("sales", report, { of: "sales" }, { semaphores: ["printer"] });
    const stock = s.step("stock", report, { of: "stock" });
    return { pages: [sales.output.pages, stock.output.pages] };
  },
});

export const storefront = workflow({
  id: "storefront",
  priority: 10,
  steps: (s) => s.step("publish", publish, { what: "the storefront" }),
});
