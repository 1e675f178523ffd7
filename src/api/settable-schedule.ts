/** A schedule as a program or an operator sets it at run time, checked by the rules of an app's file. */
import type { App } from "../core/app/app.ts";
import type { Problems } from "../core/app/rule.ts";
import { mustBeName } from "../core/app/rule.ts";
import { oneSchedule } from "../core/app/triggers.ts";
import type { Problem } from "../core/error.ts";
import { SluiceError } from "../core/error.ts";
import type { ById, InputFor, ScheduleDefinition, ScheduleTimes } from "../core/schedule/definition.ts";
import type { SetScheduleSpec } from "../core/schedule/set-schedule.ts";
import { setScheduleName } from "../core/schedule/set-schedule.ts";
import { triggersOf } from "../core/schedule/trigger.ts";
import type { AnyTask, InputOf } from "../core/task/definition.ts";
import { shortly } from "../core/text.ts";
import type { AnyWorkflow, RunInputOf } from "../core/workflow/definition.ts";
import type { NewTrigger } from "../store/store.ts";

/** Its input is plain data, because a function cannot be stored. */
export type SettableSchedule = Omit<ScheduleDefinition, "id" | "task" | "workflow"> & ById;

export type SetTaskSchedule<Task extends AnyTask> = Omit<ScheduleTimes, "id" | "tags"> & {
  readonly task: Task;
} & InputFor<InputOf<Task>>;

export type SetRunSchedule<Workflow extends AnyWorkflow> = Omit<ScheduleTimes, "id"> & {
  readonly workflow: Workflow;
  readonly task?: never;
} & InputFor<RunInputOf<Workflow>>;

type Settable = Omit<ScheduleDefinition, "id">;

export function settableTrigger(app: App, id: string, schedule: Settable, by: string): NewTrigger {
  const problems = [...problemsOf(app, id, schedule)];
  if (problems.length > 0)
    throw new SluiceError("BAD_SCHEDULE", `schedule ${shortly(id)}: ${problems.map(sentence).join("; ")}.`, {
      details: { problems },
    });
  const { schedules } = triggersOf({ tasks: [], schedules: [{ ...schedule, id }] });
  const [{ workflow, spec, input, tags, priority, paused }] = schedules as [(typeof schedules)[number]];
  const whole: SetScheduleSpec = { ...spec, input, tags, priority, setBy: by };
  return { name: setScheduleName(id), kind: "schedule", workflow, spec: JSON.stringify(whole), paused };
}

/** A rule may be about the schedule as a whole, which has been named. */
const sentence = ({ field, rule, cure }: Problem): string =>
  `${field === "" ? "" : `${field}: `}${rule}. ${cure}`;

function* problemsOf(app: App, id: string, schedule: Settable): Problems {
  yield* mustBeName("id", id, "a schedule's id");
  if (typeof schedule !== "object" || schedule === null) {
    yield {
      field: "schedule",
      rule: `must be an object, but is ${shortly(schedule)}`,
      cure: "Write { task, cron }",
    };
    return;
  }
  const definition = { tasks: [...app.tasks.values()], workflows: [...app.workflows.values()] };
  for (const problem of oneSchedule("schedule", { ...schedule, id }, definition))
    yield { ...problem, field: problem.field.replace(/^schedule\.?/, "") };
  if (typeof schedule.input === "function")
    yield { field: "input", rule: "is a function, which cannot be stored", cure: "Pass the input itself" };
}
