// Measures all systems on the same servers in one run, each in its own database and process.
//   npm run bench -- --quick

import type { Case, Setting } from "./case.ts";
import type { Flags } from "./flags.ts";
import { readFlags } from "./flags.ts";
import { describeMachine, load } from "./machine.ts";
import { peerCases } from "./peer/cases.ts";
import { lockCases } from "./peer/lock-cases.ts";
import type { Results } from "./report.ts";
import { keepResults, lastResults, printed, resultsFile } from "./report.ts";
import { measureAll } from "./rounds.ts";
import { Servers } from "./servers.ts";
import { ourCases } from "./sluice/cases.ts";

/** A quick run takes less than two minutes, also where everything is slow and the servers take long to stop. */
const QUICK_MS = 105_000;

const flags = readFlags(process.argv.slice(2));
// Progress does not belong into Markdown that goes to a file.
const say = (text: string): unknown => (flags.markdown ? process.stderr : process.stdout).write(text);
// Without a handler, a signal would leave temporary folders behind.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const file = resultsFile(flags);
if (flags.last) console.log(printed(await lastResults(file), flags.markdown));
else {
  const results = await measured(flags);
  await keepResults(file, results);
  console.log(`\n${printed(results, flags.markdown)}`);
  say(`\nwritten to ${file}\n`);
  // A case that was given up may still be at it. Its processes end with this one.
  process.exit();
}

async function measured({ quick, rounds, scale, sustainedMs, ...rest }: Flags): Promise<Results> {
  const at = new Date();
  const cases = chosen([...(rest.peers ? [...peerCases, ...lockCases] : []), ...ourCases], quick, rest.only);
  const machine = await describeMachine();
  say(`${machine.join("\n")}\n\n`);
  const servers = new Servers();
  const setting: Setting = {
    server: (name) => servers.get(name),
    scaled: (tasks) => Math.ceil(tasks * scale),
    lasting: (ms) => Math.ceil(ms * scale),
    sustainedMs,
  };
  try {
    const until = quick ? at.getTime() + QUICK_MS : Number.POSITIVE_INFINITY;
    const rows = await measureAll({ cases, rounds, until, say }, setting);
    const minutes = ((Date.now() - at.getTime()) / 60_000).toFixed(1);
    const end = `load ${load()} after it, which took ${minutes} minutes`;
    return { at: at.toISOString(), machine: [...machine, end], scale, rounds, rows };
  } finally {
    await servers.stop();
  }
}

function chosen(all: readonly Case[], quick: boolean, only: readonly string[] | undefined): readonly Case[] {
  if (only === undefined) return quick ? all.filter((each) => each.quick) : all;
  const unknown = only.filter((name) => !all.some((each) => each.name === name));
  if (unknown.length > 0) {
    console.error(`unknown: ${unknown.join(", ")}. There are: ${all.map((each) => each.name).join(", ")}`);
    process.exit(2);
  }
  return all.filter((each) => only.includes(each.name));
}
