/** What a sender may say with a signal. */
import type { Duration } from "../time.ts";

export interface SignalOptions {
  /** How long it is kept for steps that begin to wait later. The default is 1 day. */
  readonly keep?: Duration;
  /** A second signal of the event with this key changes nothing while the first one is kept. */
  readonly key?: string;
}

export interface SignalSent {
  /** The ID of the signal, or of the first signal with its key. */
  readonly id: string;
  readonly created: boolean;
  /** How many waiting steps it has answered. */
  readonly woken: number;
}
