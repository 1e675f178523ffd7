// Tasks for the children in these tests: well-behaved code, and every kind of bad code.

import { appendFileSync, writeSync } from "node:fs";
import type { AnyTask, TaskContext } from "../../../src/core/task/definition.ts";
import { task } from "../../../src/core/task/definition.ts";
import { RetryAfter } from "../../../src/core/task/steering.ts";

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });

/** Reports the start in two ways: as a log to the parent and, if asked, on stdout. */
function begun({ log }: TaskContext): void {
  log("begun", process.pid);
  if (process.argv.includes("prints")) writeSync(1, `begun ${process.pid}\n`);
}

function busyFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

export const tasks: readonly AnyTask[] = [
  task({ id: "pid", run: () => process.pid }),
  task({ id: "size", run: (input: string) => input.length }),
  task({ id: "echo", run: (input: unknown, { id, attempt, fence }) => ({ input, id, attempt, fence }) }),
  task({
    id: "talk",
    run: (_: unknown, { progress, log }) => {
      progress({ done: 3 });
      progress(undefined);
      log("half way", { n: 1 });
      log("done");
    },
  }),
  task({
    id: "circular",
    run: (_: unknown, { progress }) => {
      const value: Record<string, unknown> = {};
      value.self = value;
      progress(value);
    },
  }),
  task({
    id: "fail",
    run: () => {
      throw Object.assign(new TypeError("no such thing"), { code: "NOTHING", retryable: false });
    },
  }),
  task({
    id: "steer",
    retry: { when: (error) => error instanceof RangeError },
    run: (wait: string | null) => {
      if (wait !== null) throw new RetryAfter(wait);
      throw new TypeError("no use");
    },
  }),
  // Asks for two things at once; the second answer may come first.
  task({
    id: "asks",
    run: async (_: unknown, { client, run, step }) => {
      const [a, b] = await Promise.all([
        client.enqueue("echo", 1, { runAt: new Date(5) }),
        client.enqueue("echo", 2).catch(({ code }) => code),
      ]);
      return { a, b, run, step };
    },
  }),
  // Ends when aborted, and returns the reason.
  task({
    id: "wait",
    run: async (_: unknown, context) => {
      begun(context);
      await aborted(context.signal);
      const { name, code, message } = context.signal.reason;
      if (process.argv.includes("prints")) writeSync(1, `aborted ${code}\n`);
      return { name, code, message };
    },
  }),
  // Never ends, but lets other code run.
  task({
    id: "deaf",
    run: async (_: unknown, context) => {
      begun(context);
      await new Promise(() => {});
    },
  }),
  task({
    id: "block",
    run: (_: unknown, context) => {
      begun(context);
      for (;;);
    },
  }),
  // Blocks, and reports afterwards whether it was taken for lost.
  task({
    id: "blockFor",
    run: async (ms: number, context) => {
      const { signal } = context;
      begun(context);
      busyFor(ms);
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
      return signal.aborted ? signal.reason.code : "held";
    },
  }),
  // Writes to a file, which cannot be lost like a message to the parent.
  task({ id: "marks", run: (path: string, { id }) => appendFileSync(path, `${id}\n`) }),
  task({ id: "exit", run: (code: number) => process.exit(code) }),
  task({
    id: "killed",
    run: (_: unknown, { log }) => {
      log("my last words");
      process.kill(process.pid, "SIGKILL");
    },
  }),
  task({
    id: "uncaught",
    run: async () => {
      setTimeout(() => {
        throw new TypeError("nobody catches this");
      });
      await new Promise(() => {});
    },
  }),
  task({
    id: "hungry",
    run: () => {
      const all: unknown[] = [];
      for (;;) all.push(Array.from({ length: 10_000 }, (_, n) => ({ n })));
    },
  }),
  task({
    id: "disconnects",
    run: async () => {
      process.disconnect();
      setInterval(() => {}, 1_000);
      await new Promise(() => {});
    },
  }),
  task({
    id: "talksToParent",
    run: () => {
      for (const word of ["ready", null, 7, { type: "axm:monitor" }]) process.send?.(word);
      return "said";
    },
  }),
  task({
    id: "prints",
    run: () => {
      console.log("to stdout");
      console.error("to stderr");
    },
  }),
];
