/** `sluice queues list|pause|resume` */
import type { Command } from "commander";
import type { LimitView } from "../../api/limits.ts";
import type { Sluice } from "../../api/sluice.ts";
import { UNLIMITED } from "../../core/gate/gate.ts";
import { queueKey } from "../../core/gate/key.ts";
import type { QueueRow } from "../../store/store.ts";
import { withBy } from "./common.ts";
import { sayName } from "./limits.ts";
import { print } from "./output.ts";
import { count, sayUse } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { appFile, toPaste, whoever } from "./settings.ts";
import { table } from "./table.ts";
import { withStore } from "./with-store.ts";

type Options = GlobalOptions & { readonly by?: string };
type QueueView = QueueRow & Pick<LimitView, "held" | "limit" | "paused" | "draining">;

export function addQueues(program: Command): void {
  const queues = program.command("queues").description("see, pause and resume queues");
  queues
    .command("list")
    .description("every queue in the order it is served, with what is waiting and running")
    .action((_, command: Command) => listQueues(command.optsWithGlobals()));
  for (const verb of ["pause", "resume"] as const)
    withBy(queues.command(verb), "changes it")
      .description(verb === "pause" ? "start no more of its tasks; running tasks continue" : "resume it")
      .argument("<name>", "the queue")
      .action((name: string, _, command: Command) => change(verb, name, command.optsWithGlobals()));
}

function listQueues(options: Options): Promise<void> {
  return withStore(options, async (sluice) => {
    const views = await queueViews(sluice);
    print(options, views, () => {
      if (views.length === 0)
        return `No queues yet. Apps declare them: ${toPaste(options, `dev ${appFile()}`)}`;
      const rows = views.map((view) => [
        view.name,
        sayRank(view),
        sayUse({ ...view, key: queueKey(view.name) }),
        String(view.waiting),
        String(view.later),
      ]);
      return table(["queue", "rank", "running/limit", "waiting", "later"], rows);
    });
  });
}

/** If apps disagree, the lowest rank applies, and all ranks are shown. */
function sayRank({ rank, ranks }: QueueView): string {
  if (ranks.every((each) => each.rank === rank)) return String(rank);
  return `${rank} (${ranks.map((each) => `${sayName(each)}: ${each.rank}`).join(", ")})`;
}

async function queueViews(sluice: Sluice): Promise<QueueView[]> {
  const [queues, limits] = await Promise.all([sluice.queues.list(), sluice.limits.list()]);
  return queues.map((queue) => {
    const gate = limits.find(({ key }) => key === queueKey(queue.name));
    const { held = queue.running, limit = UNLIMITED, paused = false, draining = false } = gate ?? {};
    return { ...queue, held, limit, paused, draining };
  });
}

const viewOf = async (sluice: Sluice, name: string): Promise<QueueView | undefined> =>
  (await queueViews(sluice)).find((queue) => queue.name === name);

function change(verb: "pause" | "resume", name: string, options: Options): Promise<void> {
  return withStore(options, async (sluice) => {
    // Read before resuming, because tasks that waited during the pause may be gone a moment later.
    const before = verb === "resume" ? await viewOf(sluice, name) : undefined;
    await sluice.queues[verb](name, whoever(options.by));
    const view = await viewOf(sluice, name);
    print(options, view ?? { name, paused: verb === "pause" }, () => {
      const waiting = count((before ?? view)?.waiting ?? 0, "task");
      if (verb === "resume")
        return `queue ${name} is resumed, ${waiting} waiting${isPausedByLimit(view) ? `, but its limit is 0: ${toPaste(options, `limits reset ${queueKey(name)}`)}` : "."}`;
      return `queue ${name} is paused: ${count(view?.running ?? 0, "task")} still running, ${waiting} waiting. To resume: ${toPaste(options, `queues resume ${name}`)}`;
    });
  });
}

function isPausedByLimit(view: QueueView | undefined): boolean {
  return view?.limit === 0;
}
