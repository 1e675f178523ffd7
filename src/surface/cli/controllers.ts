/** `sluice controllers list|remove` */
import type { Command } from "commander";
import { print } from "./output.ts";
import { ago, count } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { table } from "./table.ts";
import { colours } from "./text.ts";
import { withStore } from "./with-store.ts";

export function addControllers(program: Command): void {
  const controllers = program
    .command("controllers")
    .description("see and remove the engines that share locks with this one");
  controllers
    .command("list")
    .description("each engine: when it was heard, what it holds, and how much of it waits")
    .action((_, command: Command) => list(command.optsWithGlobals()));
  controllers
    .command("remove")
    .description("remove an inactive engine and free everything it holds; its runs end if it comes back")
    .argument("<name>", "the controller, as in the list")
    .action((name: string, _, command: Command) => remove(name, command.optsWithGlobals()));
}

function list(options: GlobalOptions): Promise<void> {
  return withStore(options, async ({ shared }) => {
    const [all, now] = await Promise.all([shared.controllers(), shared.now()]);
    print(options, all, () => {
      if (all.length === 0) return "No engine shares locks yet.";
      const rows = all.map(({ name, live, heardAt, held, pending }) => [
        name,
        live ? { text: "alive" } : { text: "inactive", style: colours.red },
        heardAt === 0 ? "never" : ago(heardAt, now),
        String(held),
        String(pending),
      ]);
      return table(["controller", "state", "heard", "held", "waiting"], rows);
    });
  });
}

function remove(name: string, options: GlobalOptions): Promise<void> {
  return withStore(options, async ({ shared }) => {
    const removed = await shared.removeController(name);
    print(
      options,
      { name, ...removed },
      () =>
        `controller ${name} is removed: ${count(removed.held, "held lock")} and ${count(removed.pending, "place")} in line are gone.`,
    );
  });
}
