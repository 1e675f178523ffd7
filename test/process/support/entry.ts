// The entry module of the children in these tests. The first argument says how it loads.

import { existsSync, mkdirSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { SluiceError } from "../../../src/core/error.ts";
import type { Executor } from "../../../src/executor/executor.ts";
import { FunctionExecutor } from "../../../src/executor/function/function-executor.ts";
import { serveParent } from "../../../src/executor/process/serve-parent.ts";
import { tasks } from "./tasks.ts";

const [how, path = ""] = process.argv.slice(2);

async function load(): Promise<Executor> {
  if (how === "broken") throw new SluiceError("BAD_APP", "app.ts could not be loaded: it is broken.");
  if (how === "exits") process.exit(7);
  if (how === "hangs") await new Promise(() => {});
  // Loads once the file is gone.
  if (how === "gated") while (existsSync(path)) await sleep(5);
  if (how === "brokenWhile" && existsSync(path))
    throw new SluiceError("BAD_APP", "app.ts is broken for now.");
  if (how === "brokenForOne") brokenForOne();
  return new FunctionExecutor(new Map(tasks.map((task) => [task.id, task])));
}

/** Throws in one child only: the first to create the folder. */
function brokenForOne(): void {
  try {
    mkdirSync(path);
  } catch {
    return;
  }
  throw new SluiceError("BAD_APP", "broken for one.");
}

if (how === "blocksInLoad") {
  void serveParent(async () => {
    writeSync(1, `begun ${process.pid}\n`);
    for (;;);
  });
} else await serveParent(load);
