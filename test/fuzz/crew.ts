// An app with honest tasks and tasks that get odd values, a worker, and a record of how the honest tasks
// fare.

import type { Sluice, Store } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import type { World } from "../names/verbs.ts";

export const POLL_MS = 1_000;

const honest = task({ id: "honest", queue: "default", run: (_: number) => "done" });
const echo = task({ id: "echo", run: (input: unknown) => input });
const tenant = task({
  id: "tenant",
  pools: ({ of }: { of: string }) => ({ [`tenant=${of}`]: 1 }),
  run: (_: { of: string }) => "done",
});
const slots = task({
  id: "slots",
  pools: ({ of }: { of: number }) => ({ wide: of }),
  run: (_: { of: number }) => "done",
});

/** Values that are not JSON cannot be enqueued. They are kept here, and tasks get their index. */
const given: unknown[] = [];
const give = task({ id: "give", run: (at: number) => given[at] });
const fail = task({
  id: "fail",
  run: (at: number): string => {
    throw given[at];
  },
});
const say = task({
  id: "say",
  run: (at: number, { log, progress }) => {
    log("odd", given[at]);
    progress(given[at]);
    return "said";
  },
});
// biome-ignore lint/suspicious/noExplicitAny: it accepts any value.
const flow = workflow({ id: "flow", steps: (s, input: any) => s.step("only", echo, input) }) as any;

const app = defineApp({
  tasks: [honest, echo, tenant, slots, give, fail, say],
  workflows: [flow],
  pools: { tenant: { limit: 2, perValue: true }, wide: { limit: 100 } },
  runs: { max: 50, tags: [{ key: "tenant", perValue: true, limit: 2 }] },
});

export class Crew implements AsyncDisposable {
  readonly sluice: Sluice;
  readonly errors: unknown[] = [];
  /** The longest time in which no honest task ended. */
  longestMs = 0;
  done = 0;
  world: World = { task: "", queued: "", over: "" };
  #last = performance.now();
  #stopped = false;
  #waiting: { from: number; resolve: () => void }[] = [];
  readonly echo = echo;
  readonly tenant = tenant;
  readonly slots = slots;
  readonly give = give;
  readonly fail = fail;
  readonly say = say;
  readonly flow = flow;

  private constructor(sluice: Sluice) {
    this.sluice = sluice;
  }

  /** With a worker that polls once per `POLL_MS`, and honest work beside. */
  static async start(store: string | Store): Promise<Crew> {
    const sluice = await connect({ store, app, migrate: true });
    const crew = new Crew(sluice);
    await sluice.worker({
      slots: 8,
      poll: `${POLL_MS}ms`,
      pollJitter: "0ms",
      watch: (event) => {
        if (event.kind === "error") crew.errors.push(event.error);
      },
    });
    await crew.#makeWorld();
    crew.#last = performance.now();
    for (let load = 0; load < 2; load += 1) void crew.#load();
    return crew;
  }

  async #makeWorld(): Promise<void> {
    const { sluice } = this;
    const [task, queued, over] = [
      await sluice.enqueue(echo, 1),
      await sluice.submit(flow, 1),
      await sluice.submit(flow, 1),
    ];
    await sluice.runs.cancel(over.id);
    this.world = { task: task.id, queued: queued.id, over: over.id };
  }

  giving<T>(odd: unknown, act: (at: number) => T): T {
    return act(given.push(odd) - 1);
  }

  /** Runs one honest task after the other, until stopped. */
  async #load(): Promise<void> {
    while (!this.#stopped) {
      const began = this.done;
      try {
        const { id } = await this.sluice.enqueue(honest, began);
        await this.sluice.ended(id);
      } catch (error) {
        if (!this.#stopped) this.errors.push(error);
        return;
      }
      this.#ended();
    }
  }

  #ended(): void {
    const now = performance.now();
    this.longestMs = Math.max(this.longestMs, now - this.#last);
    this.#last = now;
    this.done += 1;
    const ready = this.#waiting.filter(({ from }) => this.done > from + 1);
    this.#waiting = this.#waiting.filter((each) => !ready.includes(each));
    for (const { resolve } of ready) resolve();
  }

  /** Waits until an honest task that began after this moment has ended. */
  async honest(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("honest work has come to a stop")), 20_000);
    });
    const ended = new Promise<void>((resolve) => this.#waiting.push({ from: this.done + 1, resolve }));
    await Promise.race([ended, late]).finally(() => clearTimeout(timer));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    await this.sluice.close({ graceMs: 2_000 });
  }
}
