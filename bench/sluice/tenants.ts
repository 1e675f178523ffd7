// Runs of different tenants behind one full gate: the cost of their wait, and how fast they follow each
// other.
import { asChild } from "../child.ts";
import { now, percentile, until } from "../measure.ts";
import { connect, defineApp, task, workflow } from "./built.ts";

const LIMIT = 2;
const IDLE_MS = 10_000;

export interface Waited {
  /** Processor time of the worker's process while all runs wait, in percent of one processor. */
  idlePercent: number;
  /** From the end of one run's code to the start of the next one's. */
  medianMs: number;
  p95Ms: number;
}

await asChild(import.meta.url, async ({ url, runs, turns }: { url: string; runs: number; turns: number }) => {
  const gaps: number[] = [];
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let isOpen = false;
  let started = 0;
  let ended: number[] = [];
  let submitted = 0;
  const work = task({
    id: "work",
    run: async () => {
      const before = ended.shift();
      if (before !== undefined) gaps.push(now() - before);
      started += 1;
      if (!isOpen) await opened;
      await new Promise((resolve) => setTimeout(resolve, 5));
      ended.push(now());
      // Keep the line as long as it was.
      void submit();
    },
  });
  const flow = workflow({
    id: "flow",
    tags: { env: "prod" },
    steps: (s) => {
      s.step("only", work, undefined);
    },
  });
  const app = defineApp({
    tasks: [work],
    workflows: [flow],
    runs: { max: 10_000, tags: [{ key: "env", value: "prod", limit: LIMIT }] },
  });
  const sluice = await connect({ store: url, app, migrate: true });
  await sluice.worker({ slots: 8 });
  const submit = (): Promise<unknown> => {
    submitted += 1;
    return sluice.submit(flow, undefined, { tags: { tenant: `t${submitted}` } }).catch(() => {});
  };
  while (submitted < runs) await submit();
  await until(async () => started === LIMIT);
  const idlePercent = await costOf(IDLE_MS);
  ended = [];
  isOpen = true;
  open();
  await until(async () => started >= turns);
  await sluice.close();
  return { idlePercent, medianMs: percentile(gaps, 0.5), p95Ms: percentile(gaps, 0.95) };
});

/** Waits a second first, until any remaining work has settled. */
async function costOf(ms: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, ms));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 10 / ms;
}
