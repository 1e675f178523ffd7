// Single addJob calls, 32 at once, with as many connections as the worker itself would have.
import { Logger, makeWorkerUtils } from "graphile-worker";
import { metered } from "../cost.ts";
import { atOnce, now } from "../measure.ts";
import type { PeerOptions, PeerResult } from "./serve.ts";
import { serve } from "./serve.ts";

export async function run({ url, tasks, slots }: PeerOptions): Promise<PeerResult> {
  const utils = await makeWorkerUtils({
    connectionString: url,
    maxPoolSize: slots,
    logger: new Logger(() => () => {}),
  });
  try {
    await utils.migrate();
    const measured = await metered(url, tasks, async () => {
      const started = now();
      await atOnce(slots, tasks, (n) => utils.addJob("noop", { n }));
      return now() - started;
    });
    return { ...measured, note: "32 callers, one job per call; the cost is that of the calls" };
  } finally {
    await utils.release();
  }
}

await serve(import.meta.url, run);
