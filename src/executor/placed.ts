/**
 * Sends each job to its place: code that keeps a processor busy to a pool of processes, a step with its own
 * pod to the cluster, everything else to `here`. Pool and cluster are created with their first job.
 */
import type { Ending, Executor, Job } from "./executor.ts";

export type Startable = Executor & { start?(): Promise<void>; stop?(): Promise<void> };

interface Places {
  readonly here: Startable;
  readonly pool?: (() => Startable) | undefined;
  readonly pods?: (() => Promise<Startable>) | undefined;
  /** True if a task keeps a processor busy. Used for jobs that do not say so themselves. */
  readonly isBusy: (task: string) => boolean;
}

export class PlacedExecutor implements Executor {
  readonly #places: Places;
  #pool: Promise<Startable> | undefined;
  #pods: Promise<Startable> | undefined;
  #open: Startable[];
  #trustedUntil: number | undefined;

  constructor(places: Places) {
    this.#places = places;
    this.#open = [places.here];
  }

  async start(): Promise<void> {
    await this.#places.here.start?.();
  }

  /** Nearly every job stays here, so it costs no promise of its own. */
  run(job: Job): Promise<Ending> {
    const { here, pool, pods, isBusy } = this.#places;
    if (job.pod && pods) return this.#inPod(pods, job);
    const isForPool = job.cpu ?? (job.step === undefined && isBusy(job.name));
    return isForPool && pool ? this.#inPool(pool, job) : here.run(job);
  }

  async #inPod(pods: () => Promise<Startable>, job: Job): Promise<Ending> {
    return (await this.#podsOf(pods)).run(job);
  }

  async #inPool(pool: () => Startable, job: Job): Promise<Ending> {
    return (await this.#poolOf(pool)).run(job);
  }

  /** Counts only `here`. The pool has its own places. */
  blocked(): number {
    return this.#places.here.blocked?.() ?? 0;
  }

  async halt(): Promise<void> {
    await Promise.all(this.#open.map((place) => place.halt?.()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#open.map((place) => place.stop?.()));
  }

  /** Stops the pool and the cluster, which were created here. The creator of `here` stops it. */
  async stopOthers(): Promise<void> {
    await Promise.all(this.#open.slice(1).map((place) => place.stop?.()));
  }

  trustedUntil(monotonicMs: number): void {
    this.#trustedUntil = monotonicMs;
    for (const place of this.#open) place.trustedUntil?.(monotonicMs);
  }

  #poolOf(make: () => Startable): Promise<Startable> {
    this.#pool ??= this.#opened(async () => make()).catch((error: unknown) => {
      this.#pool = undefined;
      throw error;
    });
    return this.#pool;
  }

  #podsOf(make: () => Promise<Startable>): Promise<Startable> {
    this.#pods ??= this.#opened(make).catch((error: unknown) => {
      this.#pods = undefined;
      throw error;
    });
    return this.#pods;
  }

  async #opened(make: () => Promise<Startable>): Promise<Startable> {
    const place = await make();
    this.#open.push(place);
    if (this.#trustedUntil !== undefined) place.trustedUntil?.(this.#trustedUntil);
    try {
      await place.start?.();
    } catch (error) {
      this.#open = this.#open.filter((each) => each !== place);
      throw error;
    }
    return place;
  }
}
