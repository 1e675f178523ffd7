/**
 * What parent and child say to each other over Node's channel. User code may use the same channel for words of its
 * own, so ours are told by the field `sluice`. Every value is a text or a number: what is JSON stays a text.
 *
 * Texts can be large, and the parent must not be held up by them, so the channel uses V8's own format ("advanced").
 * Beside JSON it costs the parent a third more time for the smallest messages, half for 4 KB and a sixth for 64 KB,
 * because nothing is quoted again.
 */
import type { Ending, StoredError } from "../executor.ts";

export interface Run {
  readonly sluice: "run";
  /** The parent's number for this hand-over: a task may be here twice, once aborted and once claimed again. */
  readonly job: number;
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly attempt: number;
  readonly fence: number;
  /** Its code must not begin later, on the machine's clock: the parent may have given it to another by then. */
  readonly beginBy: number;
  /** The deadline as the parent knows it, on the machine's clock; 0 for none. */
  readonly until: number;
}

export type ToChild =
  | Run
  | { readonly sluice: "abort"; readonly job: number; readonly reason: StoredError }
  /** Take nothing more, and end as soon as nothing runs. */
  | { readonly sluice: "leave" };

export type ToParent =
  | { readonly sluice: "ready" }
  /** Before `ready`: why it cannot start. After it: what nobody caught, its last words. */
  | { readonly sluice: "failed"; readonly error: StoredError }
  /** Written before its code runs: of a job without it, a dead child has run nothing. */
  | { readonly sluice: "begun"; readonly job: number }
  /** Read too late: its code has not run here and will not. */
  | { readonly sluice: "missed"; readonly job: number }
  /** JSON text; none for what JSON has no word for. */
  | { readonly sluice: "progress"; readonly job: number; readonly value: string | undefined }
  /** JSON text of message and data. */
  | { readonly sluice: "log"; readonly job: number; readonly line: string }
  | { readonly sluice: "ended"; readonly job: number; readonly ending: Ending }
  | { readonly sluice: "left" };

export function isOurs(message: unknown): message is { readonly sluice: string } {
  return typeof message === "object" && message !== null && "sluice" in message;
}
