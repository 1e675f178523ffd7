/** `sluice submit APP WORKFLOW` puts a run in line, or past the line with --direct. */
import type { Command } from "commander";
import { connect } from "../../api/connect.ts";
import type { SubmitOptions } from "../../core/workflow/submit-options.ts";
import { withBy } from "./common.ts";
import { INPUT, readInput } from "./input.ts";
import { loadApp } from "./load-app.ts";
import { tag, timeOf, wholeNumber } from "./numbers.ts";
import { print } from "./output.ts";
import { watchRun } from "./run-watch.ts";
import type { GlobalOptions } from "./settings.ts";
import { storeUrl, toPaste, whoever } from "./settings.ts";
import { UsageError } from "./usage-error.ts";

interface Options extends GlobalOptions {
  readonly input?: string;
  readonly tag?: Readonly<Record<string, string>>;
  readonly priority?: number;
  readonly delay?: string;
  readonly runAt?: string;
  readonly key?: string;
  readonly direct?: boolean;
  readonly namespace?: string;
  readonly watch?: boolean;
  readonly by?: string;
}

export function addSubmit(program: Command): void {
  withBy(program.command("submit"), "submits it")
    .description("submit a run of a workflow")
    .argument("<app>", "the app file that defines the workflow")
    .argument("<workflow>", "the workflow's name")
    .argument("[input]", INPUT)
    .option("--input <json>", "the input, as an option instead of an argument")
    .option("--tag <key=value>", "a tag of this run; may be given several times", tag)
    .option("--namespace <name>", "the namespace of its locks")
    .option("--priority <n>", "higher goes first in the line of runs", wholeNumber)
    .option("--delay <duration>", 'join the line after this delay, like "30s"')
    .option("--run-at <time>", "do not join the line before this time, like 2026-11-16T03:00:00Z")
    .option("--key <text>", "idempotency key: a second run with the same key is not created")
    .option("--direct", "start now, past the run cap and tag limits; it still counts at them")
    .option("--watch", "watch it until it ends; exit with 0 if it succeeded, otherwise with 1")
    .action((file: string, workflow: string, input: string | undefined, _, command: Command) =>
      submit(file, workflow, input, command.optsWithGlobals()),
    );
}

async function submit(
  file: string,
  workflow: string,
  argument: string | undefined,
  options: Options,
): Promise<void> {
  if (argument !== undefined && options.input !== undefined)
    throw new UsageError("the input is given twice, as an argument and with --input");
  const given = argument ?? options.input;
  const settings = settingsOf(options);
  const input = given === undefined ? undefined : await readInput(given);
  const { app } = await loadApp(file);
  await using sluice = await connect({ store: storeUrl(options), app });
  const { id, created } = options.direct
    ? await sluice.execute(workflow, input as never, settings)
    : await sluice.submit(workflow, input as never, settings);
  if (options.watch) return await watchRun(sluice, id, options);
  print(options, { id, created }, () => {
    const where = options.direct ? "is in progress" : "is queued";
    const what = created ? `${workflow} ${id} ${where}.` : `${workflow} ${id} already exists with this key.`;
    return `${what} See: ${toPaste(options, `runs watch ${id}`)}`;
  });
}

function settingsOf({
  priority,
  delay,
  runAt,
  key,
  direct,
  by,
  namespace,
  tag: tags,
}: Options): SubmitOptions {
  if (direct && (delay !== undefined || runAt !== undefined))
    throw new UsageError("--direct starts now, so --delay and --run-at cannot be given with it");
  if (delay !== undefined && runAt !== undefined)
    throw new UsageError("give either --delay or --run-at, not both");
  return {
    source: `cli by ${whoever(by)}`,
    ...(tags === undefined ? {} : { tags }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(priority === undefined ? {} : { priority }),
    ...(delay === undefined ? {} : { delay }),
    ...(runAt === undefined ? {} : { runAt: timeOf("--run-at", runAt) }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
  };
}
