/** All commands in one program: global options, help, and what counts as wrong usage. */
import { readFileSync } from "node:fs";
import { Command } from "commander";

type Add = (program: Command) => void;

/** Loaded by name, so that a command loads only its own code. */
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  dev: async () => (await import("./dev.ts")).addDev,
  worker: async () => (await import("./worker.ts")).addWorker,
  deploy: async () => (await import("./deploy.ts")).addDeploy,
  submit: async () => (await import("./submit.ts")).addSubmit,
  runs: async () => (await import("./runs.ts")).addRuns,
  signal: async () => (await import("./signal.ts")).addSignal,
  queue: async () => (await import("./queue.ts")).addQueue,
  pools: async () => (await import("./pools.ts")).addPools,
  locks: async () => (await import("./locks.ts")).addLocks,
  schedules: async () => (await import("./schedules.ts")).addSchedules,
  why: async () => (await import("./why.ts")).addWhy,
  tasks: async () => (await import("./tasks.ts")).addTasks,
  queues: async () => (await import("./queues.ts")).addQueues,
  limits: async () => (await import("./limits.ts")).addLimits,
  controllers: async () => (await import("./controllers.ts")).addControllers,
  check: async () => (await import("./check.ts")).addCheck,
  doctor: async () => (await import("./doctor.ts")).addDoctor,
  step: async () => (await import("./step.ts")).addStep,
  migrate: async () => (await import("./migrate.ts")).addMigrate,
};

const AFTER_HELP = `
Exit codes: 0 success, 1 failure (the reason is on stderr), 2 wrong usage.
Environment: SLUICE_STORE works like --store; SLUICE_DEBUG=1 shows stack traces; NO_COLOR=1 turns colours off.`;

/** Builds only the commands that the arguments name, or all of them if they name none. */
export async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command("sluice")
    .description(
      "A durable workflow engine and task queue. Every limit is a gate and every wait has a reason.",
    )
    .version(versionOf(), "-V, --version", "print the version")
    .option("--store <url>", "where the state is: file:…, postgres://… or mysql://… (or SLUICE_STORE)")
    .option("--storage-path <dir>", "the folder of the embedded store (default: .sluice/storage/)")
    .option(
      "--sync <url or app file>",
      "the database of shared locks, or the app that names it (or SLUICE_SYNC)",
    )
    .option("--json", "print JSON instead of text")
    .addHelpText("after", AFTER_HELP);
  const named = Object.keys(COMMANDS).filter((name) => args.includes(name));
  for (const name of named.length > 0 ? named : Object.keys(COMMANDS)) (await COMMANDS[name]?.())?.(program);
  for (const command of withChildren(program)) polish(command);
  return program;
}

/** The relative path is the same in dist and in src. */
function versionOf(): string {
  const about = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  return (JSON.parse(about) as { version: string }).version;
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
