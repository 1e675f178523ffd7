// A worker process for cases with several of them on one store. It works between "go" and "rest", and reports
// how many tasks it has run.
import type { RunningWorker } from "../../src/index.ts";
import type { Shape } from "./app.ts";
import { noop } from "./app.ts";
import { connect } from "./built.ts";
import type { Order, Reply } from "./crew.ts";

const REPORT_MS = 10;

const job = JSON.parse(process.argv[2] ?? "{}") as Shape & { url: string };
let ran = 0;
const { app } = noop(job, () => {
  ran += 1;
});
const sluice = await connect({ store: job.url, app });
const reply = (message: Reply): void => void process.send?.(message);
let worker: RunningWorker | undefined;

async function obey(order: Order): Promise<void> {
  if (order === "go") worker = await sluice.worker({ slots: job.slots });
  else if (order === "rest") await worker?.stop();
  else await sluice.close();
  reply({ obeyed: order, ran });
  if (order === "stop") process.exit(0);
}

let told = 0;
setInterval(() => {
  if (ran > told) reply({ ran });
  told = ran;
}, REPORT_MS);
process.once("disconnect", () => process.exit(1));
process.on("message", (order: Order) => void obey(order));
reply({ ran });
