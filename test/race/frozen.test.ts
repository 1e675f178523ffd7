// A process that freezes inside a pass holds the locks of its gates. The database takes them away after a
// second, so no other process waits longer than two.

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { plainModule } from "../support/plain-module.ts";
import {
  Claimer,
  describeOn,
  endsWithin,
  GATE,
  intake,
  limit,
  newTask,
  placeOf,
  untilWaiting,
} from "./support.ts";

const BOUND_MS = 2_000;
/** For a busy machine. */
const MARGIN_MS = 1_500;

class Child {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  static async start(name: string, url: string): Promise<Child> {
    return new Child(await plainModule(new URL("frozen-child.ts", import.meta.url)), name, url);
  }

  private constructor(script: string, name: string, url: string) {
    this.#process = spawn(process.execPath, [script, name, url], { stdio: ["ignore", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream })[
      Symbol.asyncIterator
    ]();
  }

  async said(): Promise<Record<string, unknown>> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("the child ended without a word");
    return JSON.parse(value) as Record<string, unknown>;
  }

  goOn(): void {
    this.#process.kill("SIGCONT");
  }

  end(): void {
    this.#process.kill("SIGKILL");
  }
}

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    test("a transaction that nobody ends stops everybody for as long as it likes", async () => {
      const place = await placeOf(name);
      try {
        const store = await place.open();
        await limit(store, GATE, 1);
        await store.enqueue([newTask("a")]);
        await intake(store);
        const claimer = await Claimer.open(store, "other");
        await limit(store, GATE, 0);
        await claimer.take();
        await limit(store, GATE, 1);
        const frozen = await place.beside();
        await frozen.query("BEGIN");
        await frozen.query(`SELECT * FROM sluice_gate WHERE name = '${GATE}' FOR UPDATE`);
        const granted = claimer.take();
        await untilWaiting(name, await place.beside());
        expect(await endsWithin(BOUND_MS, granted)).toBe(false);
        await frozen.query("ROLLBACK");
        expect(await granted).toBe(1);
      } finally {
        await place.close();
      }
    });

    test("a process frozen inside our pass stops nobody for more than two seconds, and does no harm when it goes on", async () => {
      const place = await placeOf(name);
      const store = await place.open();
      const child = await Child.start(name, place.where);
      try {
        await limit(store, GATE, 1);
        await store.enqueue([newTask("a"), newTask("b"), newTask("c")]);
        await intake(store);
        const claimer = await Claimer.open(store, "other");
        expect(await child.said()).toEqual({ inside: ["a"] });
        const since = performance.now();
        let granted = 0;
        while (granted === 0 && performance.now() - since < 20_000) granted += await claimer.take();
        const waited = performance.now() - since;
        expect(granted).toBe(1);
        expect(waited).toBeLessThan(BOUND_MS + MARGIN_MS);

        child.goOn();
        const said = await child.said();
        // Its pass was undone. It knows that, or it does not know the result and looks. Either way it has
        // nothing.
        expect(said).toMatchObject({ granted: 0, held: [] });
        expect([null, "AMBIGUOUS_COMMIT"]).toContain(said.code);
        expect(await store.queues()).toMatchObject([{ waiting: 2, running: 1 }]);
        expect((await store.events("a")).map(({ kind }) => kind)).toEqual(["TaskEnqueued", "TaskClaimed"]);
        expect((await claimer.finish()).refused).toEqual([]);
        expect(await claimer.take()).toBe(1);
      } finally {
        child.end();
        await place.close();
      }
    });
  });
}
