import type { Reference } from "sluice";
import { defineApp, task, workflow } from "sluice";

export const sent: string[] = [];

export const mail = task({
  id: "mail",
  run: ({ to, text }: { to: string; text: string }) => {
    sent.push(`${to}: ${text}`);
  },
});

const grant = task({ id: "grant", run: ({ user }: { user: string }) => `rights of ${user}` });

export const setUp = workflow({
  id: "setUp",
  steps: (s, { user }: Reference<{ user: string }>) => s.step("grant", grant, { user }),
});

export const welcome = task({
  id: "welcome",
  retry: { attempts: 5 },
  run: async ({ user }: { user: string }, { client, attempt }) => {
    await client.enqueue(mail, { to: user, text: "Welcome!" }, { key: "first" });
    await client.enqueue(mail, { to: user, text: "Any questions?" }, { key: "second", delay: "3d" });
    await client.submit(setUp, { user }, { key: "set up" });
    if (attempt === 1) throw new Error("the connection broke just now");
  },
});

export default defineApp({ tasks: [mail, grant, welcome], workflows: [setUp] });
