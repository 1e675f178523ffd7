import type { Failure } from "sluice";
import { defineApp, NonRetryable, RetryAfter, task, workflow } from "sluice";

class Busy extends Error {}

/** Stands for a bank. A real one is somewhere else. */
export const bank: { answer: () => { status: number; retryAfter?: string } } = {
  answer: () => ({ status: 200 }),
};
export const alarms: string[] = [];

export const tellUs = task({
  id: "tellUs",
  retry: { attempts: 10 },
  run: async (failure: Failure) => {
    alarms.push(`${failure.kind} ${failure.name} ${failure.state}: ${failure.error.message}`);
  },
});

export const charge = task({
  id: "charge",
  retry: { attempts: 5, when: (error) => error instanceof Busy },
  onFailure: tellUs,
  run: async ({ card }: { card: string }) => {
    const { status, retryAfter } = bank.answer();
    if (status === 402) throw new NonRetryable(`The card ${card} was refused.`);
    if (status === 429) throw new RetryAfter(retryAfter ?? "1m", "The bank asks us to wait.");
    if (status === 503) throw new Busy("The bank is busy.");
    if (status !== 200) throw new Error(`The bank answered ${status}.`);
    return { charged: card };
  },
});

export const order = workflow({
  id: "order",
  onFailure: tellUs,
  steps: (s) => s.step("charge", charge, { card: "visa" }),
});

export default defineApp({ tasks: [charge, tellUs], workflows: [order] });
