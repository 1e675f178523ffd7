/** In the child: one attempt as its executor sees it. It forwards progress and log lines to the parent. */
import type { SluiceError } from "../../core/error.ts";
import { readableJson } from "../../core/readable.ts";
import type { ClientCall } from "../../core/task/client-call.ts";
import type { Job } from "../executor.ts";
import type { CallAnswer } from "./answer.ts";
import { answered } from "./answer.ts";
import type { Run, ToParent } from "./message.ts";

export class Attempt implements Job {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly attempt: number;
  readonly fence: number;
  readonly step: Job["step"];
  /** The parent watches the timeout, because a blocked loop here would not. */
  readonly timeoutMs = null;
  readonly #number: number;
  readonly #tell: (message: ToParent) => void;
  /** Calls without an answer yet, by number. */
  readonly #calls = new Map<number, (answer: CallAnswer) => void>();
  #lastCall = 0;
  #controller: AbortController | undefined;
  #reason: SluiceError | undefined;

  constructor(run: Run, tell: (message: ToParent) => void) {
    this.id = run.id;
    this.name = run.name;
    this.input = run.input;
    this.attempt = run.attempt;
    this.fence = run.fence;
    this.step = run.step;
    this.#number = run.job;
    this.#tell = tell;
  }

  /** Created on first use, because most code never reads it. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  /** The first reason wins. */
  abort(reason: SluiceError): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.#reason);
  }

  /** The parent has the store. It answers each call once, unless it ends this process first. */
  call(asks: ClientCall): Promise<unknown> {
    this.#lastCall += 1;
    const call = this.#lastCall;
    return new Promise((resolve, reject) => {
      this.#calls.set(call, (answer) => {
        try {
          resolve(answered(answer));
        } catch (error) {
          reject(error);
        }
      });
      this.#tell({ sluice: "call", job: this.#number, call, asks });
    });
  }

  /** Calls have no answer yet. */
  get isAsking(): boolean {
    return this.#calls.size > 0;
  }

  answer(call: number, answer: CallAnswer): void {
    const settle = this.#calls.get(call);
    this.#calls.delete(call);
    settle?.(answer);
  }

  /**
   * Converts any value to JSON here. Progress and logs are only for readers, so a bad value never fails the
   * code.
   */
  progress(value: unknown): void {
    this.#tell({ sluice: "progress", job: this.#number, value: readableJson(value) });
  }

  log(message: string, data?: unknown): void {
    this.#tell({ sluice: "log", job: this.#number, line: readableJson({ message, data }) });
  }
}
