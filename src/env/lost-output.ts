/** Output that nobody reads any more: a closed pipe, a closed terminal, or a full disk under a log file. */

const drop = (): void => {};

/** From now on, lost output is dropped. Without this, Node ends a process that writes to a closed pipe. */
export function dropLostOutput(): void {
  for (const stream of [process.stdout, process.stderr])
    if (!stream.listeners("error").includes(drop)) stream.on("error", drop);
}
