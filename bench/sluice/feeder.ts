// A feed in its own process, as a web server would be. It obeys the process that started it.
import type { Shape } from "./app.ts";
import { noop } from "./app.ts";
import { connect } from "./built.ts";
import type { Fed, Manner } from "./feed.ts";
import { Feed } from "./feed.ts";

export type FeederOrder = { readonly done: number } | { readonly start: Manner } | "rest";

const job = JSON.parse(process.argv[2] ?? "{}") as Shape & { url: string };
const { app, work } = noop(job, () => {});
const sluice = await connect({ store: job.url, app });
const feed = new Feed(sluice, work);

process.once("disconnect", () => process.exit(1));
process.on("message", async (order: FeederOrder) => {
  if (order === "rest") process.send?.(await feed.rest());
  else if ("start" in order) feed.start(order.start);
  else feed.done(order.done);
});
process.send?.({ sent: 0, lateMs: null } satisfies Fed);
