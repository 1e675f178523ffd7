#!/usr/bin/env node
/** The command `sluice`. */
import { endWith, reportError } from "./failure.ts";
import { endWhenUnread } from "./lost-output.ts";
import { createProgram } from "./program.ts";

endWhenUnread();
process.on("uncaughtException", (error) => endWith(reportError(error)));

const program = await createProgram(process.argv.slice(2));
try {
  await program.parseAsync(process.argv);
} catch (error) {
  // Ends the process explicitly: something may still wait for signals, or for a store that does not answer.
  endWith(reportError(error, program.opts()));
}
