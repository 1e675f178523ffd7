// A parent that dies takes its children with it, and a frozen parent does not keep their code going.

import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { once } from "node:events";
import type { Interface } from "node:readline";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { plainModule } from "../support/plain-module.ts";
import { kill } from "../support/processes.ts";
import { entry, execArgv } from "./support/child-entry.ts";

const pids = new Set<number>();
afterEach(() => {
  // Normally they are already gone.
  for (const pid of pids) kill(pid);
  pids.clear();
});

interface Parent {
  readonly process: ChildProcess;
  readonly lines: Interface;
  /** The child prints to the same pipe, which closes when the last process has ended. */
  readonly allGone: Promise<unknown>;
}

/** Starts a parent and waits until the code in its child has begun. */
async function startParent(...args: readonly string[]): Promise<Parent> {
  const script = await plainModule(new URL("support/parent.ts", import.meta.url));
  const parent = fork(script, [entry, ...args], {
    execArgv: [...execArgv],
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  pids.add(parent.pid as number);
  const output = parent.stdout as Readable;
  const allGone = once(output, "close");
  const lines = createInterface({ input: output });
  const [line] = (await once(lines, "line")) as [string];
  expect(line).toMatch(/^begun \d+$/);
  pids.add(Number(line.split(" ")[1]));
  return { process: parent, lines, allGone };
}

describe("a parent takes its children with it, even those that block their loop for ever", () => {
  test("when it is killed", async () => {
    const { process: parent, allGone } = await startParent("block");
    parent.kill("SIGKILL");
    await allGone;
  });

  test("when it is killed while frozen", async () => {
    const { process: parent, allGone } = await startParent("block");
    parent.kill("SIGSTOP");
    parent.kill("SIGKILL");
    await allGone;
  });

  test("when it exits without a word", async () => {
    const { process: parent, allGone } = await startParent("block");
    parent.send("exit");
    await allGone;
  });

  test("when it is killed while their app still loads", async () => {
    const { process: parent, allGone } = await startParent("none", "blocksInLoad");
    parent.kill("SIGKILL");
    await allGone;
  });
});

test("a parent that is killed takes children with it whose loop is free", async () => {
  const { process: parent, allGone } = await startParent("deaf");
  parent.kill("SIGKILL");
  await allGone;
});

test("children of a frozen parent abort by themselves when its lease is over, and not before", async () => {
  const { process: parent, lines } = await startParent("wait", "", "2000");
  expect(await once(lines, "line")).toEqual(["still held"]);
  const next = once(lines, "line");
  parent.kill("SIGSTOP");
  expect(await next).toEqual(["aborted LEASE_LOST"]);
});
