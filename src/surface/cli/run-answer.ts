/** `sluice runs approve|reject RUN STEP`: answers of persons to steps that wait for them. */
import type { Command } from "commander";
import { withBy, withRun } from "./common.ts";
import { findRun } from "./find.ts";
import { print } from "./output.ts";
import type { GlobalOptions } from "./settings.ts";
import { toPaste, whoever } from "./settings.ts";
import { withStore } from "./with-store.ts";

type Verb = "approve" | "reject";
type Answer = GlobalOptions & { readonly by?: string; readonly note?: string };

export function addRunAnswers(runs: Command): void {
  for (const verb of ["approve", "reject"] as const)
    withBy(
      withRun(runs.command(verb)).argument(
        "<step>",
        "the step that waits for an answer; below the run, a path like group/ok or ship[3]/ok",
      ),
      "answers",
    )
      .description(
        verb === "approve"
          ? "answer yes: the step succeeds"
          : "answer no: the step fails with the code REJECTED",
      )
      .option("--note <text>", "why; it is kept with the answer")
      .action((run: string, step: string, _, command: Command) =>
        answer(verb, run, step, command.optsWithGlobals()),
      );
}

function answer(verb: Verb, given: string, step: string, options: Answer): Promise<void> {
  return withStore(options, async (sluice) => {
    const id = await findRun(sluice, given, options);
    const by = whoever(options.by);
    const { note } = options;
    await sluice.runs[verb](id, step, { by, ...(note === undefined ? {} : { note }) });
    const state = verb === "approve" ? "approved" : "rejected";
    print(options, { run: id, step, answer: state, by, note: note ?? null }, () => {
      return `step ${step} of run ${id} is ${state}. See: ${toPaste(options, `runs show ${id}`)}`;
    });
  });
}
