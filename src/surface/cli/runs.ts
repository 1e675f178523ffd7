/** `sluice runs list|show|items|watch|approve|reject|cancel|pause|resume|rerun` */
import type { Command } from "commander";
import { Option } from "commander";
import { connect } from "../../api/connect.ts";
import { RUN_STATES } from "../../api/filters.ts";
import type { RunView } from "../../api/run-view.ts";
import type { Sluice } from "../../api/sluice.ts";
import { SluiceError } from "../../core/error.ts";
import type { RunState } from "../../store/store.ts";
import { withBy, withRun } from "./common.ts";
import { findRun } from "./find.ts";
import { loadApp } from "./load-app.ts";
import { atLeastOne } from "./numbers.ts";
import { print } from "./output.ts";
import { addRunAnswers } from "./run-answer.ts";
import { isOver, ranFor, runEnding, runStateCell } from "./run-ending.ts";
import { addRunItems } from "./run-items.ts";
import { addRunShow } from "./run-show.ts";
import { watchRun } from "./run-watch.ts";
import { ago, count, sayTags } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { storeUrl, toPaste, whoever } from "./settings.ts";
import { table } from "./table.ts";
import { withStore } from "./with-store.ts";

type By = GlobalOptions & { readonly by?: string };
type Filter = GlobalOptions & {
  state?: RunState;
  workflow?: string;
  tag?: string;
  namespace?: string;
  before?: string;
  limit: number;
};

export function addRuns(program: Command): void {
  const runs = program.command("runs").description("see, watch and control runs of workflows");
  runs
    .command("list")
    .description("the newest runs first")
    .addOption(new Option("--state <state>", "only this state").choices(RUN_STATES))
    .option("--workflow <name>", "only this workflow")
    .option("--tag <tag>", "only runs with this tag, like env or env=prod")
    .option("--namespace <name>", "only runs of this namespace")
    .option("--before <id>", "only older than this ID: for the next page")
    .option("--limit <n>", "list at most this many", atLeastOne, 50)
    .action((_, command: Command) => listRuns(command.optsWithGlobals()));
  addRunShow(runs);
  addRunItems(runs);
  addRunAnswers(runs);
  withRun(runs.command("watch"))
    .description("show its steps live until it ends; exit with 0 if it succeeded, otherwise with 1")
    .action((run: string, _, command: Command) => watch(run, command.optsWithGlobals()));
  withBy(withRun(runs.command("cancel")), "cancels it")
    .description("take it out of line, or abort it; its slots are free when the code of its steps has ended")
    .action((run: string, _, command: Command) => cancel(run, command.optsWithGlobals()));
  for (const verb of ["pause", "resume"] as const)
    withBy(withRun(runs.command(verb)), "changes it")
      .description(verb === "pause" ? "start no more of its steps; running steps continue" : "resume it")
      .action((run: string, _, command: Command) => setPaused(verb, run, command.optsWithGlobals()));
  withBy(
    withRun(runs.command("rerun").argument("<app>", "the app file that defines its workflow")),
    "runs it again",
  )
    .description("start a new run with the same input that reuses the steps that succeeded")
    .option("--all", "reuse nothing: every step runs again")
    .option("--watch", "watch it until it ends")
    .action((file: string, run: string, _, command: Command) => rerun(file, run, command.optsWithGlobals()));
}

function listRuns({ state, workflow, tag, namespace, before, limit, ...options }: Filter): Promise<void> {
  return withStore(options, async (sluice) => {
    const [runs, now] = await Promise.all([
      sluice.runs.list({ state, workflow, tag, namespace, before, limit }),
      sluice.now(),
    ]);
    print(options, runs, () => {
      if (runs.length === 0) return "No runs.";
      const more = runs.length === limit ? `More: --before ${runs.at(-1)?.id}\n` : "";
      const rows = runs.map((run) => [
        run.id,
        run.workflow,
        runStateCell(run),
        ago(since(run), now),
        ranFor(run, now) ?? "-",
        String(run.priority),
        sayTags(run.tags),
      ]);
      return table(["run", "workflow", "state", "since", "ran for", "priority", "tags"], rows) + more;
    });
  });
}

/** When the run entered its current state. */
const since = ({ finishedAt, startedAt, dequeuedAt, queuedAt }: RunView): number =>
  finishedAt ?? startedAt ?? dequeuedAt ?? queuedAt;

function watch(given: string, options: GlobalOptions): Promise<void> {
  return withStore(options, async (sluice) =>
    watchRun(sluice, await findRun(sluice, given, options), options),
  );
}

function cancel(given: string, options: By): Promise<void> {
  return change(given, options, async (sluice, id) => {
    const { was } = await sluice.runs.cancel(id, whoever(options.by));
    const run = isOver(was) ? await sluice.runs.get(id) : undefined;
    if (run)
      throw new SluiceError(
        "ALREADY_FINISHED",
        `run ${id} ${runEnding(run, await sluice.now())} There is nothing to cancel.`,
      );
    return { data: { id, was, state: "cancelled" }, text: `run ${id} is cancelled; it was ${was}.` };
  });
}

function setPaused(verb: "pause" | "resume", given: string, options: By): Promise<void> {
  return change(given, options, async (sluice, id) => {
    const wasPaused = (await sluice.runs.get(id))?.paused === true;
    await sluice.runs[verb](id, whoever(options.by));
    if (verb === "resume" && !wasPaused)
      return { data: { id, paused: false, changed: false }, text: `run ${id} was not paused.` };
    const running = (await sluice.runs.get(id))?.steps.filter(({ state }) => state === "running").length ?? 0;
    const back = toPaste(options, `runs resume ${id}`);
    const text =
      verb === "pause"
        ? `run ${id} is paused: no more steps start, ${count(running, "step")} still running. To resume: ${back}`
        : `run ${id} is resumed.`;
    return { data: { id, paused: verb === "pause", running }, text };
  });
}

async function rerun(
  file: string,
  given: string,
  options: By & { readonly all?: boolean; readonly watch?: boolean },
): Promise<void> {
  const { app } = await loadApp(file);
  await using sluice = await connect({ store: storeUrl(options), app });
  const of = await findRun(sluice, given, options);
  const { id } = await sluice.runs.rerun(of, { all: options.all ?? false, by: whoever(options.by) });
  if (options.watch) return await watchRun(sluice, id, options);
  print(options, { id, rerunOf: of }, () => {
    const what = options.all ? "from its first step" : "reusing what succeeded";
    return `run ${id} is queued, ${what}. See: ${toPaste(options, `runs watch ${id}`)}`;
  });
}

function change(
  given: string,
  options: By,
  act: (sluice: Sluice, id: string) => Promise<{ data: unknown; text: string }>,
): Promise<void> {
  return withStore(options, async (sluice) => {
    const { data, text } = await act(sluice, await findRun(sluice, given, options));
    print(options, data, () => text);
  });
}
