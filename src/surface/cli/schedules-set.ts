/** `sluice schedules set|remove`: schedules that are made, changed and removed at run time. No deploy touches them. */
import type { Command } from "commander";
import { connect } from "../../api/connect.ts";
import type { SettableSchedule } from "../../api/settable-schedule.ts";
import { withBy } from "./common.ts";
import { INPUT, readInput } from "./input.ts";
import { loadApp } from "./load-app.ts";
import { tag, wholeNumber } from "./numbers.ts";
import { print } from "./output.ts";
import { when } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { storeUrl, toPaste, whoever } from "./settings.ts";
import { UsageError } from "./usage-error.ts";
import { withStore } from "./with-store.ts";

type By = GlobalOptions & { readonly by?: string };

interface Options extends By {
  readonly task?: string;
  readonly workflow?: string;
  readonly timezone?: string;
  readonly input?: string;
  readonly tag?: Readonly<Record<string, string>>;
  readonly priority?: number;
  readonly catchUp?: string;
  readonly overlap?: string;
  readonly paused?: boolean;
}

export function addSettingSchedules(schedules: Command): void {
  withBy(schedules.command("set"), "sets it")
    .description("create a schedule at run time, or change the one that was set with this id")
    .argument("<app>", "the app file that defines the task or workflow")
    .argument("<id>", "the schedule's id")
    .argument("<cron>", 'like "0 3 * * *"')
    .option("--task <name>", "the task that it enqueues")
    .option("--workflow <name>", "or the workflow that it starts runs of")
    .option("--input <json>", INPUT)
    .option("--timezone <name>", 'like "Europe/Berlin"; UTC by default')
    .option("--tag <key=value>", "a tag of its runs; may be given several times", tag)
    .option("--priority <n>", "of its runs or tasks; higher goes first", wholeNumber)
    .option("--catch-up <how>", "for missed times: skip, last or all")
    .option("--overlap <how>", "while the last one is not over: allow, skip or queue-one")
    .option("--paused", "create it paused")
    .action((file: string, id: string, cron: string, _, command: Command) =>
      set(file, id, cron, command.optsWithGlobals()),
    );
  withBy(schedules.command("remove"), "removes it")
    .description("remove a schedule that was set at run time")
    .argument("<id>", "its id, as in the list")
    .action((id: string, _, command: Command) => remove(id, command.optsWithGlobals()));
}

async function set(file: string, id: string, cron: string, options: Options): Promise<void> {
  const schedule = await scheduleOf(cron, options);
  const { app } = await loadApp(file);
  await using sluice = await connect({ store: storeUrl(options), app });
  const { created } = await sluice.schedules.set(id, schedule, whoever(options.by));
  const [triggers, now] = await Promise.all([sluice.schedules.list(), sluice.now()]);
  const nextAt = triggers.find((each) => each.id === id && each.setBy !== null)?.nextAt ?? null;
  print(options, { id, created, nextAt }, () => {
    const next = nextAt === null ? "" : `, next ${when(nextAt, now)}`;
    return `schedule ${id} is ${created ? "set" : "changed"}${next}. To remove it: ${toPaste(options, `schedules remove ${id}`)}`;
  });
}

async function scheduleOf(cron: string, given: Options): Promise<SettableSchedule> {
  const { task, workflow, input, timezone, tag: tags, priority, catchUp, overlap, paused } = given;
  if ((task === undefined) === (workflow === undefined))
    throw new UsageError("name what it starts: either --task or --workflow");
  const schedule = {
    cron,
    task,
    workflow,
    timezone,
    tags,
    priority,
    catchUp,
    overlap,
    paused,
    ...(input === undefined ? {} : { input: await readInput(input) }),
  };
  // The words are checked with the schedule itself.
  return Object.fromEntries(
    Object.entries(schedule).filter(([, value]) => value !== undefined),
  ) as unknown as SettableSchedule;
}

function remove(id: string, options: By): Promise<void> {
  return withStore(options, async (sluice) => {
    await sluice.schedules.remove(id, whoever(options.by));
    print(options, { id, removed: true }, () => `schedule ${id} is removed. What it has started stays.`);
  });
}
