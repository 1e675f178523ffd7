/**
 * The child's side: runs what the parent sends, until the parent says leave or is gone. To be called first by the
 * entry module of the children; what takes time, or may fail, or may block, belongs into the function it is given:
 *
 *   await serveParent(async () => new FunctionExecutor((await loadApp(file)).app.tasks));
 *
 * What nobody catches ends the process, as always in Node: the parent hears why, and starts another.
 */
import { SluiceError } from "../../core/error.ts";
import type { Executor } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import { Attempts } from "./attempts.ts";
import { Lifeline } from "./lifeline.ts";
import type { ToChild, ToParent } from "./message.ts";
import { isOurs } from "./message.ts";

export async function serveParent(source: Executor | (() => Promise<Executor>)): Promise<void> {
  if (!process.send)
    throw new SluiceError("NO_PARENT", "serveParent is for processes that a ProcessExecutor started.");
  // A signal to the whole group, Ctrl-C or systemd's, is for the parent: it drains, and then says when to leave.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  process.on("uncaughtExceptionMonitor", (error) => {
    // An app that catches everything goes on, and these are not its last words.
    if (process.listenerCount("uncaughtException") === 0) sayFailed(error);
  });
  let attempts: Attempts | undefined;
  const lifeline = new Lifeline(() => attempts?.deadlineMoved());
  // This also keeps us alive while nothing runs.
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

/** Last words: why this process cannot start, or ends. */
export function sayFailed(error: unknown): void {
  tell({ sluice: "failed", error: storedError(error) });
}

/** A parent that is gone hears nothing; the lifeline ends us then. */
function tell(message: ToParent, sent: () => void = () => {}): void {
  process.send?.(message, undefined, undefined, sent);
}

/** Messages are written in their order: once this one is out, so are all before it. */
function tellLast(message: ToParent, exitCode: number): void {
  tell(message, () => process.exit(exitCode));
}
