// A worker in this process, and a feed beside it: in its own process, or in this one as an embedded app does.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Sluice } from "../../src/index.ts";
import { until } from "../measure.ts";
import type { Input, Shape } from "./app.ts";
import { noop } from "./app.ts";
import { connect } from "./built.ts";
import type { Fed, Manner } from "./feed.ts";
import { Feed } from "./feed.ts";
import type { FeederOrder } from "./feeder.ts";

export interface FedJob extends Shape {
  url: string;
  /** True for a feed in its own process. */
  apart: boolean;
}

interface Feeder {
  done(count: number): void;
  start(manner: Manner): void;
  rest(): Promise<Fed>;
  stop(): void;
}

const REPORT_MS = 10;

export class FedWorker {
  readonly #sluice: Sluice;
  readonly #feeder: Feeder;
  readonly #count: { ran: number };
  readonly #reports: NodeJS.Timeout;

  private constructor(sluice: Sluice, feeder: Feeder, count: { ran: number }) {
    this.#sluice = sluice;
    this.#feeder = feeder;
    this.#count = count;
    this.#reports = setInterval(() => feeder.done(count.ran), REPORT_MS);
  }

  /** `onRun` hears of every task as its code begins. */
  static async start(job: FedJob, onRun: (input: Input) => void = () => {}): Promise<FedWorker> {
    const count = { ran: 0 };
    const { app, work } = noop(job, (input) => {
      count.ran += 1;
      onRun(input);
    });
    const sluice = await connect({ store: job.url, app, migrate: true });
    await sluice.worker({ slots: job.slots });
    const feeder = job.apart ? await apart(job) : here(new Feed(sluice, work));
    return new FedWorker(sluice, feeder, count);
  }

  /** How many tasks have run. */
  get ran(): number {
    return this.#count.ran;
  }

  feed(manner: Manner): void {
    this.#feeder.start(manner);
  }

  /** Ends the feed and waits until everything that was put in line has run. */
  async rest(): Promise<Fed> {
    const fed = await this.#feeder.rest();
    await until(async () => this.ran >= fed.sent);
    return fed;
  }

  async stop(): Promise<void> {
    clearInterval(this.#reports);
    this.#feeder.stop();
    await this.#sluice.close();
  }
}

function here(feed: Feed): Feeder {
  return {
    done: (count) => feed.done(count),
    start: (manner) => feed.start(manner),
    rest: () => feed.rest(),
    stop: () => {},
  };
}

async function apart(job: FedJob): Promise<Feeder> {
  const file = fileURLToPath(new URL("feeder.ts", import.meta.url));
  const child = fork(file, [JSON.stringify(job)], { execArgv: process.execArgv });
  let stopping = false;
  // Without the feed, this process would wait for tasks that never come.
  child.once("exit", () => stopping || process.exit(1));
  const send = (order: FeederOrder): void => void child.send(order);
  await once(child, "message");
  return {
    done: (count) => send({ done: count }),
    start: (manner) => send({ start: manner }),
    rest: async () => {
      const answer = once(child, "message");
      send("rest");
      return (await answer)[0] as Fed;
    },
    stop: () => {
      stopping = true;
      child.kill("SIGKILL");
    },
  };
}
