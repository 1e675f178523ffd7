/**
 * The messages between parent and child on Node's channel. User code may send its own messages on the same
 * channel, so ours are marked by the field `sluice`. JSON stays text. Only a
 * call of the client and its answer are more: options have dates, and an answer is what the store said.
 *
 * Texts can be large and must not hold up the parent, so the channel uses V8's own format ("advanced").
 * Compared with JSON, it costs the parent a third more time for the smallest messages, half for 4 KB and a
 * sixth for 64 KB, because nothing is quoted again.
 */
import type { ClientCall } from "../../core/task/client-call.ts";
import type { Ending, StoredError } from "../executor.ts";
import type { CallAnswer } from "./answer.ts";

export interface Run {
  readonly sluice: "run";
  /** The parent's number for this offer. A task may be here twice: once aborted and once claimed again. */
  readonly job: number;
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly attempt: number;
  readonly fence: number;
  readonly step?: { readonly run: string; readonly name: string } | undefined;
  /**
   * The code must not start later, on the machine's clock. The parent may have given the job to another child
   * by then.
   */
  readonly beginBy: number;
  /** The deadline as the parent knows it, on the machine's clock. 0 means none. */
  readonly until: number;
}

export type ToChild =
  | Run
  | { readonly sluice: "answer"; readonly job: number; readonly call: number; readonly answer: CallAnswer }
  | { readonly sluice: "abort"; readonly job: number; readonly reason: StoredError }
  /** Take nothing more, and exit as soon as nothing runs. */
  | { readonly sluice: "leave" };

export type ToParent =
  | { readonly sluice: "ready" }
  /** Before `ready`: why it cannot start. After `ready`: an uncaught exception that ends it. */
  | { readonly sluice: "failed"; readonly error: StoredError }
  /** Written before the code runs. If a dead child did not send this for a job, it has run nothing of it. */
  | { readonly sluice: "begun"; readonly job: number }
  /** The offer was read too late. Its code has not run here and will not. */
  | { readonly sluice: "missed"; readonly job: number }
  /** JSON text. Undefined for a value that JSON cannot express. */
  | { readonly sluice: "progress"; readonly job: number; readonly value: string | undefined }
  /** JSON text of message and data. */
  | { readonly sluice: "log"; readonly job: number; readonly line: string }
  /** The code asks for something. `call` is its number among the calls of this job. */
  | { readonly sluice: "call"; readonly job: number; readonly call: number; readonly asks: ClientCall }
  | { readonly sluice: "ended"; readonly job: number; readonly ending: Ending }
  | { readonly sluice: "left" };

export function isOurs(message: unknown): message is { readonly sluice: string } {
  return typeof message === "object" && message !== null && "sluice" in message;
}
