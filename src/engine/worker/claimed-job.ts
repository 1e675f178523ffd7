/**
 * A claim as its executor sees it. This is a class because an object with an accessor of its own is slow to make,
 * and one is made for every task. So it must not be spread: what its class has would be lost.
 */
import { storedOptions } from "../../core/unit-options.ts";
import type { Job } from "../../executor/executor.ts";
import type { Claimed } from "../claiming/claims.ts";
import type { ActiveSlots } from "./active.ts";
import type { AnswerCall } from "./worker-options.ts";

/** What a job needs of its worker. */
export interface JobHost {
  readonly answer: AnswerCall | undefined;
  hasBegun(active: ActiveSlots): void;
  progress(claim: Claimed, value: unknown): void;
  log(claim: Claimed, message: string, data: unknown): void;
}

export class ClaimedJob implements Job {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly attempt: number;
  readonly fence: number;
  readonly timeoutMs: number | null;
  readonly beginBy: number | undefined;
  readonly step: Job["step"];
  readonly cpu: boolean | undefined;
  readonly pod: Job["pod"];
  readonly call?: NonNullable<Job["call"]>;
  readonly #active: ActiveSlots;
  readonly #host: JobHost;

  constructor(active: ActiveSlots, beginBy: number, host: JobHost) {
    const { id, name, input, attempt, epoch, options } = active.claim;
    const { timeoutMs, step, cpu, pod } = storedOptions(options);
    const { answer } = host;
    this.id = id;
    this.name = name;
    this.input = input;
    this.attempt = attempt;
    this.fence = epoch;
    this.timeoutMs = timeoutMs;
    this.beginBy = Number.isFinite(beginBy) ? beginBy : undefined;
    this.step = step;
    this.cpu = cpu;
    this.pod = pod;
    // A claim that is no longer ours starts nothing more. Its code may not have heard of it yet.
    if (answer)
      this.call = async (call) => {
        if (active.abortedFor) throw active.abortedFor;
        return answer(active.claim, call);
      };
    this.#active = active;
    this.#host = host;
  }

  /** Most code never looks at it, so it is made on first use. */
  get signal(): AbortSignal {
    return this.#active.signal;
  }

  begins(): void {
    this.#host.hasBegun(this.#active);
  }

  progress(value: unknown): void {
    this.#host.progress(this.#active.claim, value);
  }

  log(message: string, data?: unknown): void {
    this.#host.log(this.#active.claim, message, data);
  }
}
