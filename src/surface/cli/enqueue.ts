/** `sluice tasks enqueue APP TASK INPUT` */
import type { Command } from "commander";
import { connect } from "../../api/connect.ts";
import type { EnqueueOptions } from "../../core/task/enqueue-options.ts";
import { INPUT, readInput } from "./input.ts";
import { loadApp } from "./load-app.ts";
import { timeOf, wholeNumber } from "./numbers.ts";
import { print } from "./output.ts";
import type { GlobalOptions } from "./settings.ts";
import { storeUrl, toPaste } from "./settings.ts";

interface Options extends GlobalOptions {
  readonly queue?: string;
  readonly priority?: number;
  readonly delay?: string;
  readonly runAt?: string;
  readonly goodUntil?: string;
  readonly key?: string;
}

export function addEnqueue(tasks: Command): void {
  tasks
    .command("enqueue")
    .description("put a task in line")
    .argument("<app>", "the app file that defines the task")
    .argument("<task>", "the task's name")
    .argument("[input]", INPUT, "null")
    .option("--queue <name>", "a queue other than the task's own")
    .option("--priority <n>", "higher goes first", wholeNumber)
    .option("--delay <duration>", 'start after this delay, like "30s"')
    .option("--run-at <time>", "do not start before this time, like 2026-11-16T03:00:00Z")
    .option("--good-until <time>", "expire if not started by then: a time, or a duration from now")
    .option("--key <text>", "idempotency key: a second task with the same key is not created")
    .action((file: string, task: string, input: string, _, command: Command) =>
      enqueue(file, task, input, command.optsWithGlobals()),
    );
}

async function enqueue(file: string, task: string, text: string, options: Options): Promise<void> {
  const input = await readInput(text);
  const settings = settingsOf(options);
  const { app } = await loadApp(file);
  await using sluice = await connect({ store: storeUrl(options), app });
  const { id, created } = await sluice.enqueue(task, input as never, settings);
  print(options, { id, created }, () => {
    const what = created ? `${task} ${id} is in line.` : `${task} ${id} already exists with this key.`;
    return `${what} See: ${toPaste(options, `why ${id}`)}`;
  });
}

function settingsOf({ queue, priority, delay, runAt, goodUntil, key }: Options): EnqueueOptions {
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(priority === undefined ? {} : { priority }),
    ...(delay === undefined ? {} : { delay }),
    ...(runAt === undefined ? {} : { runAt: timeOf("--run-at", runAt) }),
    ...(goodUntil === undefined
      ? {}
      : { goodUntil: /^\d{4}-/.test(goodUntil) ? timeOf("--good-until", goodUntil) : goodUntil }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
  };
}
