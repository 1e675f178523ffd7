/** The workers: a fixed number of posts, each with its own line. A worker that dies is replaced at once. */
import { join } from "node:path";
import type { Impairment, Orphan, Stopped } from "../history.ts";
import type { Line } from "../proxy/line.ts";
import type { Random } from "../random.ts";
import { Worker } from "./worker.ts";

export interface Post {
  readonly number: number;
  /** Undefined if the store has no wire. */
  readonly line: Line | undefined;
  worker: Worker;
}

export interface CrewOptions {
  readonly size: number;
  readonly folder: string;
  readonly lines: readonly (Line | undefined)[];
  args(post: number): readonly string[];
  env(post: number): NodeJS.ProcessEnv;
}

interface Ended {
  readonly pid: number;
  readonly from: number;
  readonly to: number;
  readonly wasUp: boolean;
  readonly how: string;
}

export class Crew {
  readonly posts: Post[];
  readonly impairments: Impairment[] = [];
  readonly stopped: Stopped[] = [];
  /** Children of workers that were killed. */
  readonly orphans: Orphan[] = [];
  /** Workers that ended by themselves, not by a signal. */
  readonly #ended: Ended[] = [];
  readonly #options: CrewOptions;
  #closing = false;
  started = 0;

  constructor(options: CrewOptions) {
    this.#options = options;
    this.posts = Array.from({ length: options.size }, (_, number) => ({
      number,
      line: options.lines[number],
      worker: this.#start(number),
    }));
  }

  #start(number: number): Worker {
    const { folder, args, env } = this.#options;
    const worker = new Worker(args(number), env(number), join(folder, `worker-${number}.log`));
    this.started += 1;
    void worker.gone.then((how) => this.#replace(number, worker, how));
    return worker;
  }

  #replace(number: number, worker: Worker, how: string): void {
    const now = Date.now();
    const known = this.impairments.some(
      ({ pid, why }) => pid === worker.pid && (why === "killed" || why === "told to stop"),
    );
    // Code that kills its own process does it with a signal. Anything else is a crash, or a start without a
    // store.
    if (!known) {
      if (worker.wasUp) this.impair(worker.pid, "killed", now);
      if (how !== "SIGKILL")
        this.#ended.push({ pid: worker.pid, from: worker.started, to: now, wasUp: worker.wasUp, how });
    }
    const post = this.posts[number];
    if (!this.#closing && post?.worker === worker) post.worker = this.#start(number);
  }

  /**
   * Workers that ended for no reason of ours. A worker that finds no store at its start may say so and end.
   */
  crashed(): string[] {
    const disturbed = ({ pid, from, to }: Ended): boolean =>
      this.impairments.some(
        (each) => (each.pid === pid || each.pid === 0) && each.from <= to && each.to >= from,
      );
    return this.#ended
      .filter((ended) => ended.wasUp || !disturbed(ended))
      .map(({ pid, how }) => `pid ${pid} ended with ${how}`);
  }

  async allUp(): Promise<void> {
    await Promise.all(this.posts.map(({ worker }) => worker.up));
  }

  impair(
    pid: number,
    why: Impairment["why"],
    from: number,
    to = Number.POSITIVE_INFINITY,
    parent?: number,
  ): void {
    this.impairments.push({ pid, why, from, to, ...(parent === undefined ? {} : { parent }) });
  }

  /** A post whose worker is up and has no other fault at work. Undefined if none was found in time. */
  async free(random: Random, isFit: (post: Post) => boolean = () => true): Promise<Post | undefined> {
    for (const until = Date.now() + 20_000; Date.now() < until; ) {
      const fit = this.posts.filter((post) => post.worker.isSettled && isFit(post));
      if (fit.length > 0) return random.pick(fit);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return undefined;
  }

  /** Tells a worker to stop and notes how long it took. */
  async stop(worker: Worker): Promise<void> {
    const told = Date.now();
    worker.state = "busy";
    this.impair(worker.pid, "told to stop", told);
    worker.signal("SIGTERM");
    const code = await worker.gone;
    this.stopped.push({ pid: worker.pid, told, gone: Date.now(), code });
  }

  /** Stops all workers in order, and after a minute by force. */
  async close(): Promise<void> {
    this.#closing = true;
    const force = setTimeout(() => this.kill(), 60_000);
    await Promise.all(
      this.posts.map(({ worker }) => (worker.state === "gone" ? worker.gone : this.stop(worker))),
    );
    clearTimeout(force);
  }

  kill(): void {
    this.#closing = true;
    for (const { worker } of this.posts) {
      worker.signal("SIGCONT");
      worker.signal("SIGKILL");
    }
  }
}
