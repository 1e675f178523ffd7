/** `sluice queue list|cancel|why|priority`: the line of runs. */
import type { Command } from "commander";
import type { QueuedRun, QueuePage } from "../../api/run-queue.ts";
import { sayDuration } from "../../core/time.ts";
import { withBy, withRun } from "./common.ts";
import { findRun } from "./find.ts";
import { atLeastOne, wholeNumber } from "./numbers.ts";
import { print } from "./output.ts";
import { reasonLines } from "./reason-lines.ts";
import { withCommands } from "./remedy.ts";
import { ago, count, sayTags } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { toPaste, whoever } from "./settings.ts";
import { table } from "./table.ts";
import { colours, safe } from "./text.ts";
import { withStore } from "./with-store.ts";

type By = GlobalOptions & { readonly by?: string };

export function addQueue(program: Command): void {
  const queue = program.command("queue").description("see and change the line of runs");
  queue
    .command("list")
    .description("every queued run, by priority and then time, with the reason it waits")
    .option("--limit <n>", "list at most this many", atLeastOne, 100)
    .option("--after <n>", "skip this many", wholeNumber, 0)
    .action((_, command: Command) => listQueue(command.optsWithGlobals()));
  withBy(withRun(queue.command("cancel")), "cancels it")
    .description("take a queued run out of line (to cancel one in progress: runs cancel)")
    .action((run: string, _, command: Command) => cancel(run, command.optsWithGlobals()));
  withRun(queue.command("why"))
    .description("why a run is queued: every limit that blocks it, its place in line, priority and tags")
    .action((run: string, _, command: Command) => why(run, command.optsWithGlobals()));
  withBy(withRun(queue.command("priority")), "changes it")
    .description("change the priority of a queued run")
    .argument("<priority>", "higher goes first", wholeNumber)
    .action((run: string, priority: number, _, command: Command) =>
      setPriority(run, priority, command.optsWithGlobals()),
    );
}

type Page = GlobalOptions & { readonly limit: number; readonly after: number };

function listQueue(options: Page): Promise<void> {
  return withStore(options, async (sluice) => {
    const { limit, after } = options;
    const [page, now] = await Promise.all([
      sluice.queue.page({ limit, after: Math.max(0, after) }),
      sluice.now(),
    ]);
    const { runs } = page;
    const data = runs.map((run) => ({ ...run, sentences: withCommands(run.sentences, options) }));
    print(options, data, () => {
      if (page.total === 0) return "No run is queued.";
      const rows = runs.map((run) => [
        run.position === null ? "-" : String(run.position),
        run.id,
        run.workflow,
        String(run.priority),
        ago(run.queuedAt, now),
        shortly(run),
      ]);
      const shown = runs.length > 0 ? table(["#", "run", "workflow", "priority", "queued", "why"], rows) : "";
      return [shown, ...rest(page, options)].filter((line) => line !== "").join("\n");
    });
  });
}

/** Says which part of the line is not shown, and how to see it. */
function rest({ runs, total, after }: QueuePage, options: Page): string[] {
  const last = after + runs.length;
  if (after === 0 && last === total) return [];
  if (runs.length === 0) return [`There are only ${count(total, "queued run")}.`];
  const shown = `Showing ${after + 1} to ${last} of ${count(total, "queued run")}.`;
  if (last >= total) return [shown];
  const next = toPaste(options, `queue list --limit ${options.limit} --after ${last}`);
  return [`${shown} Next page: ${colours.cyan(next)}`];
}

function shortly({ sentences }: QueuedRun): string {
  return sentences.map(({ text }) => text).join("; ") || "nothing blocks it; it starts in the next pass";
}

function cancel(given: string, options: By): Promise<void> {
  return withStore(options, async (sluice) => {
    const id = await findRun(sluice, given, options);
    await sluice.queue.cancel(id, whoever(options.by));
    print(options, { id, was: "queued", state: "cancelled" }, () => `run ${id} is cancelled; it was queued.`);
  });
}

function why(given: string, options: GlobalOptions): Promise<void> {
  return withStore(options, async (sluice) => {
    const run = await sluice.queue.why(await findRun(sluice, given, options));
    const now = await sluice.now();
    const data = { ...run, sentences: withCommands(run.sentences, options) };
    print(options, data, () => whyQueued(run, now, options));
  });
}

/** Also used by `sluice why` for a queued run. */
export function whyQueued(run: QueuedRun, now: number, options: GlobalOptions): string {
  const reasons = reasonLines(run.reasons, now, options);
  const head = `${colours.bold(safe(run.workflow))} ${run.id} ${standing(run, now)}`;
  return [head, ...reasons, `  Priority ${run.priority}, tags: ${safe(sayTags(run.tags))}.`].join("\n");
}

function standing({ position, queuedAt, reasons }: QueuedRun, now: number): string {
  if (position === null) return "is delayed:";
  const place = `is number ${position} in the line of runs`;
  return reasons.length > 0
    ? `${place}, queued for ${sayDuration(now - queuedAt)}, because`
    : `${place}. Nothing blocks it; it starts in the next pass.`;
}

function setPriority(given: string, priority: number, options: By): Promise<void> {
  return withStore(options, async (sluice) => {
    const id = await findRun(sluice, given, options);
    const { from } = await sluice.queue.priority(id, priority, whoever(options.by));
    // The run may be admitted between the change and this look.
    const [queued, { numbered }] = await Promise.all([
      sluice.queue.why(id).catch(() => undefined),
      sluice.queue.page({ limit: 1 }),
    ]);
    const position = queued?.position ?? null;
    print(options, { id, from, priority, position }, () => {
      const place = position === null ? "" : `, now number ${position} of ${count(numbered, "queued run")}`;
      return `run ${id}: priority ${from} → ${priority}${place}.`;
    });
  });
}
