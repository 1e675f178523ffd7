// `count` no-op items in a window, compared with as many plain tasks behind a queue's cap: from the first
// write to the last end, by the store's own clock. A worker already runs while they are put in line.
import { asChild } from "../child.ts";
import { median } from "../measure.ts";
import { connect } from "./built.ts";
import { listApp } from "./items-app.ts";

export interface Windowed {
  url: string;
  count: number;
  window: number;
}

export interface Times {
  itemsMs: number;
  plainMs: number;
}

type Sluice = Awaited<ReturnType<typeof connect>>;

await asChild(import.meta.url, async ({ url, count, window }: Windowed): Promise<Times> => {
  const { app, all, plain } = listApp(window);
  const sluice = await connect({ store: url, app, migrate: true });
  await sluice.worker({ slots: window * 2 });
  const throughWindow = (many: number) => ofRun(sluice, () => sluice.submit(all, many));
  const throughCap = (many: number) => ofTasks(sluice, plain, many);
  await throughWindow(count / 5);
  await throughCap(count / 5);
  const items: number[] = [];
  const tasks: number[] = [];
  // Alternate: if the machine is slower for a while, it is slower for both.
  for (let round = 0; round < 3; round += 1) {
    items.push(await throughWindow(count));
    tasks.push(await throughCap(count));
  }
  await sluice.close();
  return { itemsMs: median(items), plainMs: median(tasks) };
});

async function ofRun(sluice: Sluice, submit: () => Promise<{ id: string }>): Promise<number> {
  const began = await sluice.store.now();
  const { id } = await submit();
  const { state, finishedAt } = await sluice.runs.ended(id);
  if (state !== "succeeded") throw new Error(`the run ${state}`);
  return (finishedAt as number) - began;
}

async function ofTasks(
  sluice: Sluice,
  plain: ReturnType<typeof listApp>["plain"],
  count: number,
): Promise<number> {
  const began = await sluice.store.now();
  let last = "";
  for (let from = 0; from < count; from += 2_000) {
    const size = Math.min(2_000, count - from);
    const calls = Array.from({ length: size }, (_, n) => ({ task: plain, input: from + n }));
    last = (await sluice.enqueueMany(calls)).at(-1)?.id as string;
  }
  await sluice.ended(last);
  for (;;) {
    const open = await sluice.queues.list();
    if (open.every(({ waiting, running }) => waiting + running === 0)) break;
    await new Promise((next) => setTimeout(next, 20));
  }
  const ended = await sluice.store.tasks({ limit: 500, name: "plain" });
  return Math.max(...ended.map(({ at }) => at)) - began;
}
