/** `sluice tasks list|show|enqueue|cancel|retry|restore` */
import type { Command } from "commander";
import { Option } from "commander";
import { TASK_STATES } from "../../api/filters.ts";
import type { Sluice } from "../../api/sluice.ts";
import type { TaskView } from "../../api/task-view.ts";
import { SluiceError } from "../../core/error.ts";
import type { TaskState } from "../../store/store.ts";
import { withBy, withId } from "./common.ts";
import { endingOf, errorOf } from "./ending.ts";
import { addEnqueue } from "./enqueue.ts";
import { findTask } from "./find.ts";
import { atLeastOne } from "./numbers.ts";
import { print } from "./output.ts";
import { ago, count, stateCell } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { toPaste, whoever } from "./settings.ts";
import { addShow } from "./show.ts";
import { table } from "./table.ts";
import { withStore } from "./with-store.ts";

type By = GlobalOptions & { readonly by?: string };
type Filter = GlobalOptions & {
  state?: TaskState;
  queue?: string;
  name?: string;
  before?: string;
  limit: number;
};

export function addTasks(program: Command): void {
  const tasks = program.command("tasks").description("see, enqueue, cancel and retry tasks");
  tasks
    .command("list")
    .description("the newest tasks first")
    .addOption(new Option("--state <state>", "only this state").choices(TASK_STATES))
    .option("--queue <name>", "only this queue")
    .option("--name <task>", "only this task")
    .option("--before <id>", "only older than this ID: for the next page")
    .option("--limit <n>", "list at most this many", atLeastOne, 50)
    .action((_, command: Command) => listTasks(command.optsWithGlobals()));
  addShow(tasks);
  addEnqueue(tasks);
  withBy(withId(tasks.command("cancel")), "cancels it")
    .description("take it out of line, or abort it if it runs; its slots are free when its code has ended")
    .action((id: string, _, command: Command) => cancel(id, command.optsWithGlobals()));
  withBy(withId(tasks.command("retry")), "retries it")
    .description("put a finished task back in line, with all its attempts")
    .option("--force", "retry even a task that succeeded: its effects happen again")
    .action((id: string, _, command: Command) => retry(id, command.optsWithGlobals()));
  withBy(tasks.command("restore"), "puts it back")
    .argument("<id>", "the ID of a task or a run that was set aside, or of its lane")
    .description("put back a task or run that could not be processed and was set aside, with its whole lane")
    .action((id: string, _, command: Command) => restore(id, command.optsWithGlobals()));
}

function listTasks({ state, queue, name, before, limit, ...options }: Filter): Promise<void> {
  return withStore(options, async (sluice) => {
    const [tasks, now] = await Promise.all([
      sluice.list({ state, queue, name, before, limit }),
      sluice.now(),
    ]);
    print(options, tasks, () => {
      if (tasks.length === 0) return "No tasks.";
      const rows = tasks.map((task) => [
        task.id,
        task.name,
        task.queue,
        stateCell(task.state),
        ago(task.at, now),
        String(task.priority),
        note(task),
      ]);
      const more = tasks.length === limit ? `More: --before ${tasks.at(-1)?.id}\n` : "";
      return table(["id", "task", "queue", "state", "since", "priority", "note"], rows) + more;
    });
  });
}

/** The detail that matters most in this state. */
function note(task: TaskView): string {
  if (task.state === "failed") return errorOf(task);
  if (task.progress !== undefined) return `progress ${JSON.stringify(task.progress)}`;
  const attempt = task.state === "later" ? task.attempt + 1 : task.attempt;
  return attempt > 1 ? `attempt ${attempt}` : "";
}

function cancel(given: string, options: By): Promise<void> {
  return change(given, options, async (sluice, id) => {
    const before = await sluice.get(id);
    const { was } = await sluice.cancel(id, whoever(options.by));
    const ended = before && was === before.state ? endingOf(before, await sluice.now()) : undefined;
    if (ended) throw new SluiceError("ALREADY_FINISHED", `task ${id} ${ended} There is nothing to cancel.`);
    return { data: { id, was, state: "cancelled" }, text: `task ${id} is cancelled; it was ${was}.` };
  });
}

function retry(given: string, options: By & { readonly force?: boolean }): Promise<void> {
  return change(given, options, async (sluice, id) => {
    if (!options.force && (await sluice.get(id))?.state === "succeeded")
      throw new SluiceError(
        "SUCCEEDED",
        `task ${id} has succeeded; running it again would repeat its effects. To do it anyway: ${toPaste(options, `tasks retry ${id} --force`)}`,
      );
    const { was } = await sluice.retry(id, whoever(options.by));
    const text = `task ${id} is back in line; it was ${was}. See: ${toPaste(options, `why ${id}`)}`;
    return { data: { id, was, state: "waiting" }, text };
  });
}

function restore(given: string, options: By): Promise<void> {
  return withStore(options, async (sluice) => {
    const { id, task, units } = await sluice.restore(given, whoever(options.by));
    const data = { lane: id, task, units };
    print(options, data, () => `lane ${id} of "${task}" is restored, with ${count(units, "task")} in line.`);
  });
}

function change(
  given: string,
  options: By,
  act: (sluice: Sluice, id: string) => Promise<{ data: unknown; text: string }>,
): Promise<void> {
  return withStore(options, async (sluice) => {
    const { data, text } = await act(sluice, await findTask(sluice, given, options));
    print(options, data, () => text);
  });
}
