/** `sluice locks list|info|set|release` */
import type { Command } from "commander";
import type { SharedLockInfo } from "../../api/shared-locks.ts";
import type { SharedRow } from "../../core/shared/line.ts";
import { limitNumber } from "./numbers.ts";
import { print } from "./output.ts";
import { ago, count, sayLimit } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { table } from "./table.ts";
import { colours } from "./text.ts";
import { UsageError } from "./usage-error.ts";
import { withStore } from "./with-store.ts";

type ReleaseOptions = GlobalOptions & { readonly holder?: string; readonly controller?: string };

const LOCK = "the lock, like mtx/NAMESPACE/NAME or sem/NAMESPACE/NAME";

export function addLocks(program: Command): void {
  const locks = program.command("locks").description("see, set and release locks that engines share");
  locks
    .command("list")
    .description("each lock: its limit, how much of it is held, and how many wait")
    .action((_, command: Command) => list(command.optsWithGlobals()));
  locks
    .command("info")
    .description("one lock: its holders and its whole line, in order")
    .argument("<lock>", LOCK)
    .action((lock: string, _, command: Command) => info(lock, command.optsWithGlobals()));
  locks
    .command("set")
    .description("set the limit of a semaphore; lowering it ends no holder")
    .argument("<lock>", LOCK)
    .argument("<limit>", "1 or more, 0 to pause, -1 for unlimited", limitNumber)
    .action((lock: string, limit: number, _, command: Command) =>
      set(lock, limit, command.optsWithGlobals()),
    );
  locks
    .command("release")
    .description("free a lock by hand; the run that held it is ended by its engine")
    .argument("<lock>", LOCK)
    .option("--holder <id>", "only this holder, as in `locks info`; needs --controller")
    .option("--controller <name>", "the controller of the holder")
    .action((lock: string, _, command: Command) => release(lock, command.optsWithGlobals()));
}

function list(options: GlobalOptions): Promise<void> {
  return withStore(options, async ({ shared }) => {
    const all = await shared.list();
    print(options, all, () => {
      if (all.length === 0) return "No lock is held, waited for or limited.";
      const rows = all.map(({ lock, limit, held, waiting }) => [
        lock,
        limit === null ? { text: "unset", style: colours.red } : { text: sayLimit(limit) },
        String(held),
        String(waiting),
      ]);
      return table(["lock", "limit", "held", "waiting"], rows);
    });
  });
}

function info(lock: string, options: GlobalOptions): Promise<void> {
  return withStore(options, async ({ shared }) => {
    const seen = await shared.info(lock);
    print(options, seen, () => story(seen));
  });
}

function story({ lock, limit, held, holders, line, now }: SharedLockInfo): string {
  const head = `${colours.bold(lock)}: ${held} of ${limit === null ? "an unset limit" : sayLimit(limit)} held\n`;
  const row = ({ key, controller, priority, at, live }: SharedRow) => [
    key,
    live ? { text: controller } : { text: `${controller} (inactive)`, style: colours.red },
    String(priority),
    ago(at, now),
  ];
  const columns = ["run", "controller", "priority", "created"];
  const holding = holders.length > 0 ? `\nHeld by\n${table(columns, holders.map(row))}` : "";
  const waiting = line.length > 0 ? `\nIn line\n${table(columns, line.map(row))}` : "";
  return `${head}${holding}${waiting}`;
}

function set(lock: string, limit: number, options: GlobalOptions): Promise<void> {
  return withStore(options, async ({ shared }) => {
    const { limit: from } = await shared.info(lock);
    await shared.setLimit(lock, limit);
    print(options, { lock, from, limit }, () => `${lock}: ${sayLimit(from)} → ${sayLimit(limit)}.`);
  });
}

function release(lock: string, options: ReleaseOptions): Promise<void> {
  const { holder, controller } = options;
  if ((holder === undefined) !== (controller === undefined))
    throw new UsageError("give --holder and --controller together, as `locks info` shows them");
  return withStore(options, async ({ shared }) => {
    const only = holder !== undefined && controller !== undefined ? { key: holder, controller } : undefined;
    const released = await shared.release(lock, only);
    print(options, { lock, released }, () =>
      released === 0
        ? `${lock} is not held${only ? " by that run" : ""}.`
        : `${lock} is released: ${count(released, "holder")}. Each of them is ended by its own engine.`,
    );
  });
}
