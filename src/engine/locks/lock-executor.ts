/**
 * Runs the requests that a pass has admitted. The "code" of a request is that of its caller: it begins with the
 * grant and ends with the release.
 */
import { SluiceError } from "../../core/error.ts";
import type { Ending, Executor, Job } from "../../executor/executor.ts";
import { LockGrant } from "./grant.ts";
import type { Releases } from "./releases.ts";
import type { Request } from "./request.ts";

const OVER: Ending = { ok: true, result: "null" };
const TOO_LATE: Ending = {
  ok: false,
  error: { name: "Error", message: "The grant came too late." },
  retryable: true,
  begun: false,
};

export class LockExecutor implements Executor {
  readonly #requestOf: (id: string) => Request | undefined;
  readonly #ended: (request: Request) => void;
  readonly #releases: Releases;
  readonly #clock: () => number;
  readonly #ends = new Set<() => void>();

  /** `ended` is called when a request was released or lost. */
  constructor(
    requestOf: (id: string) => Request | undefined,
    ended: (request: Request) => void,
    releases: Releases,
    clock: () => number,
  ) {
    this.#requestOf = requestOf;
    this.#ended = ended;
    this.#releases = releases;
    this.#clock = clock;
  }

  /** A request that nobody wants any more ends at once. */
  async run(job: Job): Promise<Ending> {
    if (job.beginBy !== undefined && this.#clock() > job.beginBy) return TOO_LATE;
    const request = this.#requestOf(job.id);
    if (!request?.isWanted) return OVER;
    job.begins?.();
    return new Promise((resolve) => {
      const end = (): void => {
        this.#ends.delete(end);
        this.#ended(request);
        resolve(OVER);
      };
      this.#ends.add(end);
      const grant = new LockGrant(job.fence, end, this.#releases.of(job.id));
      const lose = (): void => {
        request.lost();
        this.#releases.forget(job.id);
        this.#ended(request);
        grant.abort(lossFor(job.signal.reason));
      };
      job.signal.addEventListener("abort", lose, { once: true });
      request.granted(grant);
    });
  }

  /** Nothing ends the caller's code by force. Its lock is given back anyway: it was told by its signal. */
  async halt(): Promise<void> {
    for (const end of [...this.#ends]) end();
  }
}

/** A worker cannot always tell a cancel from a lost lease, so both are one reason here. */
function lossFor(cause: unknown): SluiceError {
  if (cause instanceof SluiceError && cause.code === "WORKER_STOPPED")
    return new SluiceError("CLOSED", "The client that held the lock was closed.", { cause });
  return new SluiceError(
    "LOCK_LOST",
    "The lock is lost: its lease could not be renewed in time, or somebody cancelled it. Another holder may have it.",
    { cause },
  );
}
