import { connect } from "sluice";

/** Sends an invoice once, however many servers try it at the same time. */
export async function sendInvoice(url: string, invoice: Invoice, register: Register): Promise<boolean> {
  await using sluice = await connect({ store: url });
  await using permit = await sluice.mutex(`invoice-${invoice.id}`).acquire({ timeout: "30s" });
  if (await register.isSent(invoice.id)) return false;
  await invoice.send(permit.signal);
  // If this process was frozen for longer than its lease, the register has seen a higher fence and refuses.
  await register.sent(invoice.id, permit.fence);
  return true;
}

export interface Invoice {
  readonly id: string;
  send(signal: AbortSignal): Promise<void>;
}

export interface Register {
  isSent(id: string): Promise<boolean>;
  /** Refuses a fence that is lower than one it has seen for this invoice. */
  sent(id: string, fence: number): Promise<void>;
}
