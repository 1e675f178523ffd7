/**
 * `sluice schedules list|pause|resume|trigger`: everything that starts runs or tasks automatically, including
 * sensors and automations.
 */
import type { Command } from "commander";
import { connect } from "../../api/connect.ts";
import type { TriggerView } from "../../api/schedules.ts";
import { MOST_AT_ONCE } from "../../core/schedule/due.ts";
import type { TriggerState } from "../../core/schedule/state.ts";
import type { AutomationSpec, ScheduleSpec, SensorSpec } from "../../core/schedule/trigger.ts";
import { formatDuration } from "../../core/time.ts";
import { withBy } from "./common.ts";
import { loadApp } from "./load-app.ts";
import { print } from "./output.ts";
import { watchRun } from "./run-watch.ts";
import { ago, count, when } from "./say.ts";
import { addSettingSchedules } from "./schedules-set.ts";
import type { GlobalOptions } from "./settings.ts";
import { storeUrl, toPaste, whoever } from "./settings.ts";
import type { Cell } from "./table.ts";
import { table } from "./table.ts";
import { colours } from "./text.ts";
import { withStore } from "./with-store.ts";

type By = GlobalOptions & { readonly by?: string };

export function addSchedules(program: Command): void {
  const schedules = program
    .command("schedules")
    .description("see and control what starts runs automatically: schedules, sensors, automations");
  schedules
    .command("list")
    .description("every schedule, sensor and automation: when it is due next, and its last run")
    .action((_, command: Command) => listSchedules(command.optsWithGlobals()));
  for (const verb of ["pause", "resume"] as const)
    withBy(schedules.command(verb), "changes it")
      .description(
        verb === "pause" ? "start no more runs automatically" : "resume it; what was missed stays missed",
      )
      .argument("<id>", "its id, as in the list")
      .action((id: string, _, command: Command) => setPaused(verb, id, command.optsWithGlobals()));
  withBy(schedules.command("trigger"), "triggers it")
    .description("start a run or a task now, as the schedule would; its own times do not change")
    .argument("<app>", "the app file that defines the schedule")
    .argument("<id>", "the schedule's id")
    .option("--watch", "watch it until it ends")
    .action((file: string, id: string, _, command: Command) => trigger(file, id, command.optsWithGlobals()));
  addSettingSchedules(schedules);
}

function listSchedules(options: GlobalOptions): Promise<void> {
  return withStore(options, async (sluice) => {
    const [triggers, now] = await Promise.all([sluice.schedules.list(), sluice.now()]);
    print(options, triggers, () => {
      if (triggers.length === 0) return "No schedules. Apps declare them: defineApp({ schedules: [ … ] })";
      const rows = triggers.map((each) => [
        each.id,
        each.kind,
        each.workflow ?? each.task ?? "-",
        whenOf(each),
        nextOf(each, now),
        lastOf(each, now),
        noteOf(each, now),
      ]);
      return table(["id", "kind", "starts", "when", "next", "last run", "note"], rows);
    });
  });
}

export function whenOf({
  kind,
  spec,
}: {
  readonly kind: TriggerView["kind"];
  readonly spec: unknown;
}): string {
  if (kind === "sensor") return `every ${formatDuration((spec as SensorSpec).everyMs)}`;
  if (kind === "automation") {
    const { of, kind: on } = (spec as AutomationSpec).when;
    return `${of.join(", ")} ${on === "newer" ? "newer" : "succeeded"}`;
  }
  const { cron, timezone } = spec as ScheduleSpec;
  return `${cron} ${timezone}`;
}

function nextOf({ app, setBy, paused, nextAt }: TriggerView, now: number): Cell {
  if (app === null && setBy === null) return { text: "no app declares it", style: colours.yellow };
  if (paused) return { text: "paused", style: colours.yellow };
  if (nextAt === null) return { text: "-" };
  return { text: nextAt > now ? ago(nextAt, now) : "now" };
}

function lastOf({ state }: TriggerView, now: number): string {
  const { lastRunAt } = state as TriggerState;
  return lastRunAt === undefined ? "-" : ago(lastRunAt, now);
}

/** They are not counted any further at a time. */
export const sayMissed = (missed: number): string =>
  missed > MOST_AT_ONCE ? `more than ${MOST_AT_ONCE} missed` : `${missed} missed`;

function noteOf({ state, task, setBy }: TriggerView, now: number): Cell {
  const {
    error,
    lastRun,
    missed = 0,
    overlapped = 0,
  } = state as TriggerState & { missed?: number; overlapped?: number };
  if (error) return { text: `${ago(error.at, now)}: ${error.message}`, style: colours.red };
  const notes = [
    ...(setBy === null ? [] : [`set by ${setBy}`]),
    ...(lastRun ? [`${task === null ? "run" : "task"} ${lastRun}`] : []),
    ...(missed > 0 ? [sayMissed(missed)] : []),
    ...(overlapped > 0 ? [`${count(overlapped, "time")} skipped: the last one had not ended`] : []),
  ];
  return { text: notes.join(", ") };
}

function setPaused(verb: "pause" | "resume", id: string, options: By): Promise<void> {
  return withStore(options, async (sluice) => {
    await sluice.schedules[verb](id, whoever(options.by));
    const [triggers, now] = await Promise.all([sluice.schedules.list(), sluice.now()]);
    const found = triggers.find((each) => each.id === id || `${each.kind} ${each.id}` === id);
    const { kind = "schedule", nextAt = null } = found ?? {};
    print(options, { id, kind, paused: verb === "pause", nextAt }, () => {
      if (verb === "pause")
        return `${kind} ${id} is paused. To resume: ${toPaste(options, `schedules resume ${id}`)}`;
      return `${kind} ${id} is resumed${nextAt === null || nextAt <= now ? "" : `, next ${when(nextAt, now)}`}.`;
    });
  });
}

async function trigger(
  file: string,
  schedule: string,
  options: By & { readonly watch?: boolean },
): Promise<void> {
  const { app } = await loadApp(file);
  await using sluice = await connect({ store: storeUrl(options), app });
  const { id } = await sluice.schedules.trigger(schedule, whoever(options.by));
  const isTask = (await sluice.runs.list({ ids: [id] })).length === 0;
  if (options.watch && !isTask) return await watchRun(sluice, id, options);
  print(options, { id, schedule }, () =>
    isTask
      ? `task ${id} is in line. See: ${toPaste(options, `tasks show ${id}`)}`
      : `run ${id} is queued. See: ${toPaste(options, `runs watch ${id}`)}`,
  );
}
