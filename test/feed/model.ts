// Eight processes write and some of them are killed in the middle. Two processes listen, and one of them dies
// and resumes by its cursor. What was heard is compared with the rows: the history of every unit, each event
// once and in order.

import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Change, Store } from "../../src/store/store.ts";
import type { Place } from "../race/support.ts";
import { describeOn, placeOf } from "../race/support.ts";
import { plainModule } from "../support/plain-module.ts";
import { everything, heardSince } from "./heard.ts";
import { judge, missing } from "./judge.ts";
import { declareTrigger } from "./writing.ts";

const WRITERS = 8;
const ROUNDS = 4;
/** The time between two rounds of deaths. */
const ROUND_MS = 1_000;

interface Message {
  readonly ready?: boolean;
  readonly done?: number;
  readonly error?: string;
}

async function start(module: string, ...given: string[]): Promise<ChildProcess> {
  const child = fork(await plainModule(new URL(module, import.meta.url)), given, { execArgv: [] });
  onTestFinished(() => void child.kill("SIGKILL"));
  expect(await said(child)).toEqual({ ready: true });
  return child;
}

/** The next message of a process. A process that fails reports it. */
function said(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    child.once("message", (message: Message) =>
      message.error === undefined ? resolve(message) : reject(new Error(message.error)),
    );
    child.once("exit", (code, signal) => reject(new Error(`a process ended with ${code ?? signal}`)));
  });
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.removeAllListeners("message");
  child.kill("SIGKILL");
  await gone;
}

export function judgeTheFeed(name: Place["name"]): void {
  describeOn(name, () => {
    test(`${WRITERS} writers with kills, two listeners, one of which dies and goes on`, {
      timeout: 240_000,
    }, async () => {
      const place = await placeOf(name);
      onTestFinished(() => place.close());
      const store = await place.open();
      await declareTrigger(store);
      const since = await store.follow([everything("steady")]);
      const url = name === "SQLite" ? `file:${place.where}` : place.where;
      const log = join(mkdtempSync(join(tmpdir(), "sluice-feed-")), "heard.jsonl");
      let listener = await start("listener-child.ts", url, log, "mortal 0");
      const writers = await Promise.all(
        Array.from({ length: WRITERS }, (_, n) => start("writer-child.ts", url, `w${n}`)),
      );
      for (let round = 1; round <= ROUNDS; round += 1) {
        await sleep(ROUND_MS * (0.5 + Math.random()));
        const victim = round % WRITERS;
        await Promise.all([killed(writers[victim] as ChildProcess), killed(listener)]);
        listener = await start("listener-child.ts", url, log, `mortal ${round}`);
        writers[victim] = await start("writer-child.ts", url, `w${victim}r${round}`);
      }
      await metEverything(store, since);
      const done = writers.map(said);
      for (const writer of writers) writer.send("stop");
      for (const { done: steps } of await Promise.all(done)) expect(steps).toBeGreaterThan(0);
      const heard = await heardSince(store, "steady", since);
      const rows = await (await place.beside()).query("SELECT id FROM sluice_task");
      await judge(
        store,
        rows.map(({ id }) => id as string),
        heard,
      );
      await sameAs(log, heard);
    });
  });
}

/** The writers go on until every kind of change has happened: on a busy machine four rounds may be too short for that. */
async function metEverything(store: Store, since: number): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (missing(await heardSince(store, "steady", since)).length > 0 && performance.now() < deadline)
    await sleep(250);
}

/** The listener that was killed again and again wrote down the same changes that the steady one heard. */
async function sameAs(log: string, heard: readonly Change[]): Promise<void> {
  const last = heard.at(-1)?.position as number;
  const lines = (): (Change & { listener: string })[] =>
    readFileSync(log, "utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const deadline = performance.now() + 60_000;
  while ((lines().at(-1)?.position ?? 0) < last && performance.now() < deadline) await sleep(50);
  const [first, ...rest] = lines();
  const mortal = rest.map(({ listener: _, ...change }) => change);
  const from = heard.findIndex(({ position }) => position > (first?.position ?? 0));
  expect(mortal.slice(0, heard.length - from)).toEqual(heard.slice(from));
}
