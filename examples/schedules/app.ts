import type { Sluice } from "sluice";
import { defineApp, schedule, task } from "sluice";
import { z } from "zod";

export const sent: string[] = [];

export const remind = task({
  id: "remind",
  input: z.object({ to: z.string(), about: z.string() }),
  run: ({ to, about }) => {
    sent.push(`${to}: ${about}`);
  },
});

export const backUp = task({
  id: "backUp",
  run: ({ day }: { day: string }) => `a copy of ${day}`,
});

export default defineApp({
  tasks: [remind, backUp],
  schedules: [
    schedule({ id: "standup", task: remind, cron: "0 9 * * 1-5", input: { to: "all", about: "stand-up" } }),
    schedule({
      id: "copies",
      task: backUp,
      cron: "0 2 * * *",
      overlap: "skip",
      input: ({ at }) => ({ day: new Date(at).toISOString().slice(0, 10) }),
    }),
  ],
});

/** A user has asked for a reminder, on a page of yours. */
export async function remindDaily(sluice: Sluice, user: string, about: string, hour: number) {
  await sluice.schedules.set(`remind-${user}`, {
    task: remind,
    cron: `0 ${hour} * * *`,
    timezone: "Europe/Berlin",
    input: { to: user, about },
  });
}

export async function remindNoMore(sluice: Sluice, user: string) {
  await sluice.schedules.remove(`remind-${user}`);
}
