/** All commands under one roof: global options, help, and what counts as wrong usage. */
import { Command } from "commander";
import { addCheck } from "./check.ts";
import { addDev } from "./dev.ts";
import { addDoctor } from "./doctor.ts";
import { addLimits } from "./limits.ts";
import { addMigrate } from "./migrate.ts";
import { addQueues } from "./queues.ts";
import { addTasks } from "./tasks.ts";
import { addWhy } from "./why.ts";
import { addWorker } from "./worker.ts";

const AFTER_HELP = `
Exit codes: 0 done, 1 it failed (the reason is on stderr), 2 wrong usage.
Environment: SLUICE_STORE like --store; SLUICE_DEBUG=1 shows stack traces; NO_COLOR=1 switches colours off.`;

export function createProgram(): Command {
  const program = new Command("sluice")
    .description("A durable task queue. Every limit is a gate, every wait has a reason.")
    .option("--store <url>", "where the state is: file:…, postgres://… or mysql://… (or SLUICE_STORE)")
    .option("--storage-path <dir>", "the folder of the embedded store (default: .sluice/storage/)")
    .option("--json", "print data for scripts instead of text for people")
    .addHelpText("after", AFTER_HELP);
  for (const add of [
    addDev,
    addWorker,
    addWhy,
    addTasks,
    addQueues,
    addLimits,
    addCheck,
    addDoctor,
    addMigrate,
  ])
    add(program);
  for (const command of withChildren(program)) polish(command);
  return program;
}

function polish(command: Command): void {
  command
    .exitOverride()
    .showHelpAfterError(false)
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    // Errors are reported in one place, main.ts, in one form.
    .configureOutput({ outputError: () => {} });
}

function withChildren(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withChildren)];
}
