// A parent in its own process, to be killed or frozen. It gives one job to one child, which prints what it
// does.

import { writeSync } from "node:fs";
import { ProcessExecutor } from "../../../src/executor/process/process-executor.ts";

const [entry = "", name = "", how = "", leaseMs = "0"] = process.argv.slice(2);
const executor = new ProcessExecutor({
  entry,
  argv: [how, "prints"],
  processes: 1,
  concurrency: 1,
});

const trust = (): void => executor.trustedUntil(performance.now() + Number(leaseMs));
if (Number(leaseMs) > 0) setInterval(trust, Number(leaseMs) / 20);
/** Prints a line when more than a lease has passed since the code began. */
const begun = (): void => {
  if (Number(leaseMs) > 0) setTimeout(() => writeSync(1, "still held\n"), Number(leaseMs) * 1.25);
};
process.once("message", () => process.exit());
await executor.start();
if (Number(leaseMs) > 0) trust();
await executor.run({
  id: "id",
  name,
  input: "null",
  attempt: 1,
  fence: 1,
  timeoutMs: null,
  signal: new AbortController().signal,
  progress: () => {},
  log: begun,
});
