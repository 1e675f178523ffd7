/**
 * The time during which something is open. It may be closed many times and ends once: all callers of `close`
 * wait for the same end. From then on every verb fails with CLOSED, and not with an error of a driver.
 */
import { SluiceError } from "../core/error.ts";

export const closed = (cause?: unknown): SluiceError =>
  new SluiceError("CLOSED", "The store was closed. Connect again.", cause === undefined ? {} : { cause });

export class Lifetime {
  #end: Promise<void> | undefined;

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  close(end: () => Promise<void>): Promise<void> {
    this.#end ??= end();
    return this.#end;
  }

  /** A verb that is cut off by the end fails with CLOSED too. Our own errors say more, so they stay. */
  async during<T>(verb: () => Promise<T>): Promise<T> {
    if (this.isOver) throw closed();
    try {
      return await verb();
    } catch (error) {
      throw this.isOver && !(error instanceof SluiceError) ? closed(error) : error;
    }
  }
}
