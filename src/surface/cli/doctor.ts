/** `sluice doctor` prints every check in one line, and below it the findings and their cures. */
import type { Command } from "commander";
import type { Check, Finding, Verdict } from "../../api/doctor/check.ts";
import type { Diagnosis } from "../../api/doctor/doctor.ts";
import { print } from "./output.ts";
import { sayRemedy } from "./remedy.ts";
import { count } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { sayStore, storeUrl, toPaste } from "./settings.ts";
import type { Style } from "./table.ts";
import { colours, padTo, safe } from "./text.ts";
import { withStore } from "./with-store.ts";

export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .description("check that the store is consistent and its database is set up safely")
    .addHelpText("after", "\nExits with 1 if an invariant is broken, and with 0 if there are only warnings.")
    .action((_, command: Command) => doctor(command.optsWithGlobals()));
}

function doctor(options: GlobalOptions): Promise<void> {
  return withStore(options, async (sluice) => {
    const diagnosis = await sluice.examine();
    const data = { ...diagnosis, checks: diagnosis.checks.map((check) => withCommand(check, options)) };
    print(options, { store: sayStore(storeUrl(options)), ...data }, () => story(diagnosis, options));
    if (diagnosis.verdict === "fail") process.exitCode = 1;
  });
}

const STYLES: Readonly<Record<Verdict, Style>> = {
  ok: colours.green,
  warn: colours.yellow,
  fail: colours.red,
};

function story({ checks, verdict }: Diagnosis, options: GlobalOptions): string {
  const width = Math.max(...checks.map(({ check }) => check.length));
  const lines = checks.flatMap((check) => [line(check, width), ...below(check, options)]);
  return `${lines.join("\n")}\n\n${STYLES[verdict](summary(checks, options))}\n`;
}

/** The line of a check already says what a single finding says. */
function line({ check, verdict, says, findings: [only, another] }: Check, width: number): string {
  const ids = only && !another ? listed(only) : "";
  return `${STYLES[verdict](padTo(verdict, 4))}  ${padTo(check, width)}  ${safe(`${says}${ids}`)}`;
}

function below({ findings }: Check, options: GlobalOptions): string[] {
  return findings.flatMap((finding) => [
    ...(findings.length > 1 ? [`        ${safe(`${finding.text}${listed(finding)}`)}`] : []),
    `          ${safe(finding.cure)}.`,
    ...commandOf(finding, options).map((command) => `          ${colours.cyan(safe(command))}`),
  ]);
}

const commandOf = ({ remedy }: Finding, options: GlobalOptions): string[] =>
  remedy ? [sayRemedy(remedy, options)] : [];

/** For scripts: each remedy as data and as a command. */
function withCommand(check: Check, options: GlobalOptions): Check {
  const findings = check.findings.map((finding) => {
    const [command] = commandOf(finding, options);
    return { ...finding, ...(command === undefined ? {} : { command }) };
  });
  return { ...check, findings };
}

const listed = ({ ids = [], more }: Finding): string =>
  ids.length === 0 ? "" : `: ${ids.join(", ")}${more ? ", …" : ""}`;

function summary(checks: readonly Check[], options: GlobalOptions): string {
  const findings = checks.flatMap((check) => check.findings);
  const failed = findings.filter(({ verdict }) => verdict === "fail").length;
  const warned = findings.length - failed;
  if (findings.length === 0) return "All is well.";
  if (failed === 0) return `Nothing is broken; ${count(warned, "warning")}.`;
  return `${count(failed, "broken invariant")}${warned > 0 ? ` and ${count(warned, "warning")}` : ""}. Please report it, with: ${toPaste(options, "doctor --json")}`;
}
