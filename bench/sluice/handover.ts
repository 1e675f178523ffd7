// The time from the end of one task's code to the start of the next one's on a full gate.
import { asChild } from "../child.ts";
import { now, percentile } from "../measure.ts";
import { connect, defineApp, task } from "./built.ts";

await asChild(import.meta.url, async ({ url, tasks }: { url: string; tasks: number }) => {
  const gaps: number[] = [];
  let ended: number | undefined;
  let left = tasks;
  let finish = (): void => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const turn = task({
    id: "turn",
    queue: "one",
    run: async () => {
      if (ended !== undefined) gaps.push(now() - ended);
      await new Promise((resolve) => setTimeout(resolve, 5));
      ended = now();
      left -= 1;
      if (left === 0) finish();
    },
  });
  const app = defineApp({ tasks: [turn], queues: { one: { maxConcurrency: 1 } } });
  const sluice = await connect({ store: url, app, migrate: true });
  await sluice.enqueueMany(Array.from({ length: tasks }, () => ({ task: turn, input: undefined })) as never);
  await sluice.worker({ slots: 8 });
  await done;
  await sluice.close();
  return { medianMs: percentile(gaps, 0.5), p95Ms: percentile(gaps, 0.95) };
});
