/**
 * `sluice why ID` shows where a task or a run is, every reason it waits, and the command that would change
 * each reason.
 */
import type { Command } from "commander";
import type { Explanation, Wait } from "../../api/explain.ts";
import type { Sluice } from "../../api/sluice.ts";
import type { StoppingView } from "../../api/stopping.ts";
import type { TaskView } from "../../api/task-view.ts";
import { gateTitle } from "../../core/gate/kind.ts";
import { sayDuration } from "../../core/time.ts";
import { endingOf } from "./ending.ts";
import { findBelow, findEither, findRun } from "./find.ts";
import { print } from "./output.ts";
import { reasonLines } from "./reason-lines.ts";
import { withCommands } from "./remedy.ts";
import { rootOf } from "./run-ending.ts";
import { whyRun } from "./run-why.ts";
import { ago, when } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { appFile, toPaste } from "./settings.ts";
import { stoppingLines } from "./stopping.ts";
import { colours, safe, safeLines } from "./text.ts";
import { withStore } from "./with-store.ts";

export function addWhy(program: Command): void {
  program
    .command("why")
    .argument("<id>", "the ID of a task, a run or a step's task, or any unambiguous prefix")
    .argument("[step]", "a step of the run or below it, like ok, group/ok or ship[3]/ok")
    .description(
      "why a task or a run is not running: every gate that blocks it, who holds it, and what would change it",
    )
    .action((id: string, step: string | undefined, _, command: Command) =>
      why(id, step, command.optsWithGlobals()),
    );
}

interface Seen {
  readonly explanation: Explanation;
  readonly task: TaskView;
  readonly now: number;
  readonly worker: string | undefined;
  /** The run at the top of its tree, if it is a step of a run. */
  readonly root: string | undefined;
  /** Its code that should have ended but still runs. */
  readonly stopping: readonly StoppingView[];
}

function why(given: string, step: string | undefined, options: GlobalOptions): Promise<void> {
  return withStore(options, async (sluice) => {
    const { id, kind } =
      step === undefined
        ? await findEither(sluice, given, options)
        : await findBelow(sluice, await findRun(sluice, given, options), step);
    if (kind === "run") return whyRun(sluice, id, options);
    const seen = await look(sluice, id);
    const ending = endingOf(seen.task, seen.now);
    const { explanation, stopping } = seen;
    const told = stopping.length > 0 ? { stopping } : {};
    const data = { ...explanation, sentences: withCommands(explanation.sentences, options) };
    print(options, { ...data, ...(ending ? { ending } : {}), ...told }, () => story(seen, options));
  });
}

async function look(sluice: Sluice, id: string): Promise<Seen> {
  const explanation = await sluice.explain(id);
  const [task, now, workers, stopping] = await Promise.all([
    sluice.get(id),
    sluice.now(),
    sluice.workers(),
    sluice.stopping(id),
  ]);
  const worker = workers.find(({ session }) => session === task?.session)?.name;
  const run = task?.step && (await sluice.runs.get(task.step.run));
  return { explanation, task: task as TaskView, now, worker, root: run && rootOf(run), stopping };
}

const sentence = (text: string): string => `  ${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** A step is rerun with its run, so that the steps that depend on it run too. */
function again({ id, step }: TaskView, root: string | undefined, options: GlobalOptions): string {
  const [what, command] = step
    ? ["Run it again", `runs rerun ${appFile()} ${root ?? step.run}`]
    : ["Put it back in line", `tasks retry ${id}`];
  return `  ${what}: ${colours.cyan(toPaste(options, command))}`;
}

function story(seen: Seen, options: GlobalOptions): string {
  const { explanation, task } = seen;
  const head = `${colours.bold(safe(task.name))} ${task.id} ${standing(seen)}`;
  return [
    head,
    ...reasons(seen, options),
    ...deadline(seen),
    ...stoppingLines(seen.stopping, seen.now).map(sentence),
    ...waits(explanation.waits),
    ...(task.state === "failed" || task.state === "expired" || task.state === "quarantined"
      ? [again(task, seen.root, options)]
      : []),
  ].join("\n");
}

/** Uses the task as the explanation saw it, because a second look may show another moment. */
function standing({ explanation, task, now, worker }: Seen): string {
  const queue = `queue "${safe(task.queue)}"`;
  const holder = `worker ${safe(worker ?? task.session ?? "unknown")}`;
  const isHeld = task.state === "claimed" || task.state === "running";
  if (isHeld && worker === undefined)
    return `was claimed ${ago(task.at, now)} by a worker that is gone; the next pass of any worker decides what happens to it.`;
  const attempt = task.attempt > 1 ? `, attempt ${task.attempt}` : "";
  switch (task.state) {
    case "waiting":
      return explanation.state === "waiting" && explanation.reasons.length > 0
        ? `has been waiting in ${queue} for ${sayDuration(now - task.at)}, because`
        : `is in line in ${queue}. Nothing blocks it; it starts in the next pass.`;
    case "later":
      return `is delayed, in ${queue}:`;
    case "claimed":
      return `was claimed ${ago(task.at, now)} by ${holder}${attempt}; its code has not been reported as started yet.`;
    case "running":
      return `has been running for ${sayDuration(now - task.at)} on ${holder}${attempt}.`;
    default:
      return safeLines(endingOf(task, now) ?? task.state);
  }
}

function reasons({ explanation, now, task }: Seen, options: GlobalOptions): string[] {
  return explanation.state === task.state ? reasonLines(explanation.reasons, now, options) : [];
}

function deadline({ task, now }: Seen): string[] {
  const open = task.state === "waiting" || task.state === "later";
  if (!open || task.goodUntil === null) return [];
  return task.goodUntil > now
    ? [`  It expires unless it has started by ${when(task.goodUntil, now)}.`]
    : [
        `  Its deadline has passed, ${when(task.goodUntil, now)}: it expires with the next pass of any worker.`,
      ];
}

/**
 * If two gates block at once, the wait counts for both, so the times may add up to more than the total wait.
 */
function waits(intervals: readonly Wait[]): string[] {
  const perGate = new Map<string, number>();
  for (const { gates, forMs } of intervals)
    for (const gate of gates) perGate.set(gate, (perGate.get(gate) ?? 0) + forMs);
  if (perGate.size === 0) return [];
  const longest = [...perGate].sort(([, a], [, b]) => b - a);
  return [
    `  Waited at gates: ${longest.map(([gate, ms]) => `${sayDuration(ms)} on ${safe(gateTitle(gate))}`).join(", ")}. Waits for a free worker are not recorded.`,
  ];
}
