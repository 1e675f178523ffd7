#!/usr/bin/env node
/** The command `sluice`. */
import { endWith, reportError } from "./failure.ts";
import { createProgram } from "./program.ts";

// `sluice tasks list | head` closes our output early. That is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});
process.on("uncaughtException", (error) => endWith(reportError(error)));

const program = await createProgram(process.argv.slice(2));
try {
  await program.parseAsync(process.argv);
} catch (error) {
  // Ends the process explicitly: something may still wait for signals, or for a store that does not answer.
  endWith(reportError(error, program.opts()));
}
