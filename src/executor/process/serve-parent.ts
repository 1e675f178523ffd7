/**
 * The child's side: runs the jobs that the parent sends, until the parent says "leave" or is gone. The entry
 * module of the children calls it first. Anything slow, or that may fail or block, belongs in the function
 * passed to it:
 *
 *   await serveParent(async () => new FunctionExecutor((await loadApp(file)).app.tasks));
 *
 * An uncaught exception ends the process, as always in Node. The parent hears why and starts another child.
 */
import { SluiceError } from "../../core/error.ts";
import { dropLostOutput } from "../../env/lost-output.ts";
import type { Executor } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import { Attempts } from "./attempts.ts";
import { Lifeline } from "./lifeline.ts";
import type { ToChild, ToParent } from "./message.ts";
import { isOurs } from "./message.ts";

export async function serveParent(source: Executor | (() => Promise<Executor>)): Promise<void> {
  if (!process.send)
    throw new SluiceError("NO_PARENT", "serveParent is for processes that a ProcessExecutor started.");
  // A signal to the whole group, from Ctrl-C or systemd, is for the parent. It drains and then says when to
  // leave.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  // It may have the output of the parent, which goes on without a reader.
  dropLostOutput();
  process.on("uncaughtExceptionMonitor", (error) => {
    // An app that catches everything goes on, so the error does not end the process.
    if (process.listenerCount("uncaughtException") === 0) sayFailed(error);
  });
  let attempts: Attempts | undefined;
  const lifeline = new Lifeline(() => attempts?.deadlineMoved());
  // This listener also keeps the process alive while nothing runs.
  process.on("message", (message) => {
    if (isOurs(message)) attempts?.hear(message as ToChild);
  });
  try {
    const executor = typeof source === "function" ? await source() : source;
    await lifeline.held;
    attempts = new Attempts(
      executor,
      () => lifeline.until,
      tell,
      () => tellLast({ sluice: "left" }, 0),
    );
    tell({ sluice: "ready" });
  } catch (error) {
    tellLast({ sluice: "failed", error: storedError(error) }, 1);
  }
}

/** Sends the parent the error that keeps this process from starting, or ends it. */
export function sayFailed(error: unknown): void {
  tell({ sluice: "failed", error: storedError(error) });
}

/** If the parent is gone, the message is lost, and the lifeline ends the process. */
function tell(message: ToParent, sent: () => void = () => {}): void {
  process.send?.(message, undefined, undefined, sent);
}

/** Messages are written in order: once this one is out, so are all earlier ones. */
function tellLast(message: ToParent, exitCode: number): void {
  tell(message, () => process.exit(exitCode));
}
