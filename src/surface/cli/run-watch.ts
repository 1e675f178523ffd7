/**
 * Watches a run until it has ended. A terminal shows a tree that is redrawn in place, other outputs get
 * lines, and scripts get the final run. If the watch is stopped, the run continues.
 */
import type { Sluice } from "../../api/sluice.ts";
import { print } from "./output.ts";
import { RunChanges } from "./run-changes.ts";
import { isOver, runEnding } from "./run-ending.ts";
import { RunLines } from "./run-lines.ts";
import type { Seen } from "./run-seen.ts";
import { lookAt } from "./run-seen.ts";
import { runTree } from "./run-tree.ts";
import { localTime } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { toPaste } from "./settings.ts";
import { colours, safe } from "./text.ts";

/** The shortest time between looks that follow changes. */
const PACE_MS = 50;
/** The reasons for a wait may change without a change of the run, so the watch looks at least this often. */
const IDLE_MS = 1_000;
/** The largest share of time spent on looks: counting a hundred thousand items takes a while. */
const LOOKING = 1 / 5;

/** Sets the exit code: 0 if the run succeeded, else 1. */
export async function watchRun(sluice: Sluice, id: string, options: GlobalOptions): Promise<void> {
  const show = options.json ? () => {} : process.stdout.isTTY ? drawn() : written();
  const leave = (): void => {
    process.stderr.write(`\nThe run continues. To watch it again: ${toPaste(options, `runs watch ${id}`)}\n`);
    process.exit(130);
  };
  process.once("SIGINT", leave);
  const seen = await untilOver(sluice, id, show);
  show(seen);
  process.removeListener("SIGINT", leave);
  if (options.json) print(options, seen.run, () => "");
  else if (process.stdout.isTTY) process.stdout.write(last(seen));
  process.exitCode = seen.run.state === "succeeded" ? 0 : 1;
}

async function untilOver(sluice: Sluice, id: string, show: (seen: Seen) => void): Promise<Seen> {
  const changes = new RunChanges(sluice, id);
  try {
    let seen = await lookAt(sluice, id);
    for (let tookMs = 0; !isOver(seen.run.state); ) {
      show(seen);
      await changes.next(Math.max(PACE_MS, tookMs / LOOKING - tookMs), IDLE_MS);
      const began = performance.now();
      seen = await lookAt(sluice, id);
      tookMs = performance.now() - began;
    }
    return seen;
  } finally {
    await changes.close();
  }
}

const UP = (lines: number): string => (lines > 0 ? `\u001b[${lines}A` : "");
const TO_LINE_END = "\u001b[K";
const TO_SCREEN_END = "\u001b[J";

/** Each frame is written in one piece over the previous one, so that nothing flickers. */
function drawn(): (seen: Seen) => void {
  let height = 0;
  return (seen) => {
    const { columns, rows } = process.stdout;
    const lines = runTree(seen, { columns, rows });
    const text = lines.map((line) => `${line}${TO_LINE_END}\n`).join("");
    process.stdout.write(`${UP(height)}${text}${TO_SCREEN_END}`);
    height = lines.length;
  };
}

function written(): (seen: Seen) => void {
  const lines = new RunLines();
  return (seen) => {
    for (const line of lines.tell(seen)) process.stdout.write(`${localTime(line.at)}  ${line.text}\n`);
  };
}

function last({ run }: Seen): string {
  if (run.state === "succeeded")
    return run.result === undefined || run.result === null ? "" : `${safe(JSON.stringify(run.result))}\n`;
  const ending = runEnding(run) ?? run.state;
  return `${colours.red(safe(ending))}\n`;
}
