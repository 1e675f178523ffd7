// A worker that serves until it is told to stop, for cases with several processes on one store.
import type { Shape } from "./app.ts";
import { noop } from "./app.ts";
import { connect } from "./built.ts";

const job = JSON.parse(process.argv[2] ?? "{}") as Shape & { url: string };
const { app } = noop(job, () => {});
const sluice = await connect({ store: job.url, app });
process.once("disconnect", () => process.exit(1));
process.on("message", async (word) => {
  if (word === "go") await sluice.worker({ slots: job.slots });
  else {
    await sluice.close();
    process.exit(0);
  }
});
process.send?.("ready");
