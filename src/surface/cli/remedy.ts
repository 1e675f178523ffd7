/** Writes a remedy as a command that can be pasted into the shell that ran this one. */
import type { Sentence } from "../../api/explain.ts";
import type { SluiceError } from "../../core/error.ts";
import type { Remedy } from "../../core/remedy.ts";
import { LIMIT, payloadToFill, whoOf, withRemedies } from "../../core/remedy.ts";
import type { GlobalOptions } from "./settings.ts";
import { appFile, toPaste } from "./settings.ts";
import { quoted } from "./shell.ts";

export const sayRemedy = (remedy: Remedy, options: GlobalOptions): string =>
  toPaste(options, wordsOf(remedy));

function wordsOf(remedy: Remedy): string {
  switch (remedy.action) {
    case "setLimit":
      return `limits set ${quoted(remedy.gate)} ${remedy.limit ?? LIMIT}`;
    case "makeGate":
      return `limits set ${quoted(remedy.gate)} ${remedy.limit} --new`;
    case "resetLimit":
      return `limits reset ${quoted(remedy.gate)}`;
    case "listLimits":
      return "limits list";
    case "makePool":
      return `pools set ${quoted(remedy.pool)} ${remedy.limit} --new`;
    case "listPools":
      return "pools list";
    case "pauseQueue":
      return `queues pause ${quoted(remedy.queue)}`;
    case "resumeQueue":
      return `queues resume ${quoted(remedy.queue)}`;
    case "listQueues":
      return "queues list";
    case "resumeRun":
      return `runs resume ${quoted(remedy.run)}`;
    case "cancelRun":
      return `runs cancel ${quoted(remedy.run)}`;
    case "rerun":
      return `runs rerun ${appFile()} ${quoted(remedy.run)}`;
    case "approve":
      return `runs approve ${quoted(remedy.run)} ${quoted(remedy.step)}${remedy.by ? ` --by ${quoted(whoOf(remedy.by))}` : ""}`;
    case "signal":
      return `signal ${quoted(remedy.event)} ${quoted(payloadToFill(remedy.match))} --app ${appFile()}`;
    case "listRuns":
      return `runs list${remedy.state ? ` --state ${remedy.state}` : ""}`;
    case "cancelTask":
      return `tasks cancel ${quoted(remedy.task)}`;
    case "listTasks":
      return "tasks list";
    case "restoreLane":
      return `tasks restore ${quoted(remedy.lane)}`;
    case "listSchedules":
      return "schedules list";
    case "startWorker":
      return `worker ${appFile()}${remedy.queue ? ` --queues=${quoted(remedy.queue)}` : ""}`;
    case "deploy":
      return `deploy ${appFile()}`;
    case "migrate":
      return "migrate";
    case "explainRun":
      return `why ${quoted(remedy.run)}`;
    case "inspect":
      return "doctor";
  }
}

/** The sentence of an error, with its remedies as commands. For an error that is not ours, its message. */
export function sayError(error: unknown, options: GlobalOptions): string {
  // Not instanceof: the app may have loaded another copy of this package.
  const { code, message, sentence, remedies } = error as Partial<SluiceError>;
  if (sentence !== undefined && remedies !== undefined)
    return withRemedies(sentence, remedies, (remedy) => sayRemedy(remedy, options));
  return message || String(code ?? error);
}

/** For scripts: sentences with their remedies as data and as commands. */
export const withCommands = (
  sentences: readonly Sentence[],
  options: GlobalOptions,
): readonly (Sentence & { readonly commands: readonly string[] })[] =>
  sentences.map((sentence) => ({
    ...sentence,
    commands: sentence.remedies.map((remedy) => sayRemedy(remedy, options)),
  }));
