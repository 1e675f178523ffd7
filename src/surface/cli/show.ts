/** `sluice tasks show ID` shows everything that is stored about one task. */
import type { Command } from "commander";
import { readable } from "../../api/readable.ts";
import type { StoppingView } from "../../api/stopping.ts";
import type { TaskView } from "../../api/task-view.ts";
import { isoTime } from "../../core/time.ts";
import type { EventRow } from "../../store/store.ts";
import { withId } from "./common.ts";
import { errorOf } from "./ending.ts";
import { findTask } from "./find.ts";
import { print } from "./output.ts";
import { count, stateCell, when } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { stoppingLines } from "./stopping.ts";
import { fields, table } from "./table.ts";
import { withStore } from "./with-store.ts";

export function addShow(tasks: Command): void {
  withId(tasks.command("show"))
    .description("one task with its input, its result or error, and its history")
    .action((id: string, _, command: Command) => show(id, command.optsWithGlobals()));
}

function show(given: string, options: GlobalOptions): Promise<void> {
  return withStore(options, async (sluice) => {
    const id = await findTask(sluice, given, options);
    const [task, events, stopping, now] = await Promise.all([
      sluice.get(id),
      sluice.events(id),
      sluice.stopping(id),
      sluice.now(),
    ]);
    const found = task as TaskView;
    const history = events.map(({ n, kind, at, data }) => ({
      n,
      kind,
      at,
      data: data === null ? null : readable(data),
    }));
    print(
      options,
      { ...found, stopping, events: history },
      () => `${about(found, stopping, now)}\n${historyOf(events)}`,
    );
  });
}

function about(task: TaskView, stopping: readonly StoppingView[], now: number): string {
  return fields([
    ["id", task.id],
    ["task", task.name],
    task.step ? ["run", task.step.run] : undefined,
    task.step ? ["step", task.step.name] : undefined,
    ["queue", task.queue],
    ["state", stateCell(task.state)],
    ["since", when(task.at, now)],
    ...stoppingLines(stopping, now).map((text): [string, string] => ["stopping", text]),
    ["created", when(task.createdAt, now)],
    ["priority", String(task.priority)],
    ["attempt", String(task.attempt)],
    task.losses > 0 ? ["lost", `its process or worker ${count(task.losses, "time")}`] : undefined,
    ["asks", task.asks.map(({ gate, slots }) => (slots > 1 ? `${gate} × ${slots}` : gate)).join(", ")],
    task.goodUntil === null ? undefined : ["good until", when(task.goodUntil, now)],
    task.idempotencyKey === null ? undefined : ["key", task.idempotencyKey],
    task.session === null ? undefined : ["session", task.session],
    ["input", JSON.stringify(task.input) ?? "-"],
    task.progress === undefined ? undefined : ["progress", JSON.stringify(task.progress)],
    task.result === undefined ? undefined : ["result", JSON.stringify(task.result)],
    task.state === "failed" ? ["error", errorOf(task)] : undefined,
  ]);
}

function historyOf(events: readonly EventRow[]): string {
  return table(
    ["time", "event", "data"],
    events.map(({ at, kind, data }) => [isoTime(at), kind, data ?? ""]),
  );
}
