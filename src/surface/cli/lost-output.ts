/** What a command does when nobody reads its output any more. */
import { dropLostOutput } from "../../env/lost-output.ts";

/**
 * `sluice tasks list | head` closes our output early. That is not an error, but the rest of the command has no
 * reader.
 */
export function endWhenUnread(): void {
  process.stdout.on("error", endQuietly);
  // An error that cannot be told anybody still has its exit code.
  process.stderr.on("error", dropIfUnread);
}

/** A worker does its work whether or not anybody reads its output. */
export function outliveReaders(): void {
  process.stdout.off("error", endQuietly);
  process.stderr.off("error", dropIfUnread);
  dropLostOutput();
}

function endQuietly(error: NodeJS.ErrnoException): void {
  dropIfUnread(error);
  process.exit(0);
}

function dropIfUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}
