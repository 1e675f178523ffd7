import type { Reference } from "sluice";
import { defineApp, event, task, workflow } from "sluice";

interface Payment {
  orderId: string;
  amount: number;
}

/** An event may have a schema, like the input of a task: event({ id: "paid", payload: z.object({ … }) }). */
export const paid = event<Payment>({ id: "paid" });

export const mails: string[] = [];

export const mail = task({
  id: "mail",
  run: ({ to, text }: { to: string; text: string }) => {
    mails.push(`${to}: ${text}`);
  },
});

export const trial = workflow({
  id: "trial",
  steps: (s, input: Reference<{ email: string; ends: string }>) => {
    const settled = s.sleep("settle", "2h");
    s.step("welcome", mail, { to: input.email, text: "How is it going?" }, { after: [settled] });
    const end = s.until("end", input.ends);
    s.step("goodbye", mail, { to: input.email, text: "Your trial has ended." }, { after: [end] });
  },
});

export const order = workflow({
  id: "order",
  steps: (s, input: Reference<{ id: string; email: string }>) => {
    const payment = s.waitFor("payment", paid, { match: { orderId: input.id }, timeout: "3d" });
    s.step("thank", mail, { to: input.email, text: "Thank you." }, { after: [payment] });
    s.step("remind", mail, { to: input.email, text: "It is not paid." }, { after: [payment.failed] });
    return { amount: payment.output.amount };
  },
});

export const gift = workflow({
  id: "gift",
  steps: (s, input: Reference<string>) =>
    s.waitFor("payment", paid, {
      match: { orderId: input },
      timeout: "3d",
      otherwise: { orderId: input, amount: 0 },
    }),
});

export const release = workflow({
  id: "release",
  steps: (s, input: Reference<{ version: string }>) => {
    const answer = s.approve("ask", { question: "Release it?", by: ["ana", "bob"], timeout: "7d" });
    s.step("tell", mail, { to: "all@example.com", text: input.version }, { after: [answer] });
    return { by: answer.output.by, note: answer.output.note };
  },
});

export default defineApp({ tasks: [mail], workflows: [trial, order, gift, release] });
