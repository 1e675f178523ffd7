// The example of a lock in plain code does what the manual says.

import { expect, test } from "vitest";
import type { Register } from "../../examples/locks/invoice.ts";
import { sendInvoice } from "../../examples/locks/invoice.ts";
import { migrated } from "../locks/support/clients.ts";
import { freshSqlite } from "../support/databases.ts";

test("of many programs that send the same invoice at once, one sends it", async () => {
  const url = `file:${await freshSqlite()}`;
  await migrated(url);
  const sent: string[] = [];
  const fences = new Map<string, number>();
  const register: Register = {
    isSent: async (id) => fences.has(id),
    sent: async (id, fence) => {
      expect(fence).toBeGreaterThan(fences.get(id) ?? 0);
      fences.set(id, fence);
    },
  };
  const invoice = { id: "42", send: async () => void sent.push("42") };
  const done = await Promise.all([1, 2, 3].map(() => sendInvoice(url, invoice, register)));
  expect(done.filter(Boolean)).toHaveLength(1);
  expect(sent).toEqual(["42"]);
});
