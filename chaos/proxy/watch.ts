/**
 * Parses the traffic between a process and its database. It follows the protocol's framing, not packets: a
 * message may come in pieces, and a packet may hold many.
 */
export interface Watch {
  /** How many of these bytes come before a message that asks for a commit. Undefined if there is none. */
  fromClient(bytes: Buffer): number | undefined;
  fromServer(bytes: Buffer): Heard;
}

export interface Heard {
  /** The server has confirmed a commit. */
  readonly committed: boolean;
  /**
   * Every request has been answered, and a pass is open that has completed something: its locks are held, and
   * its second half is still to come.
   */
  readonly insidePass: boolean;
}

/**
 * Splits a stream of bytes into messages. `lengthOf` returns the length of the first one, once it is known.
 */
export class Framing {
  readonly #lengthOf: (bytes: Buffer) => number | undefined;
  #rest: Buffer = Buffer.alloc(0);

  constructor(lengthOf: (bytes: Buffer) => number | undefined) {
    this.#lengthOf = lengthOf;
  }

  /**
   * The messages that are complete now, each with its start in `bytes`. A negative start means an earlier
   * packet.
   */
  read(bytes: Buffer): { readonly message: Buffer; readonly begin: number }[] {
    const before = this.#rest.length;
    let all = before === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let begin = 0 - before;
    const found: { message: Buffer; begin: number }[] = [];
    for (;;) {
      const length = this.#lengthOf(all);
      if (length === undefined || all.length < length) break;
      found.push({ message: all.subarray(0, length), begin });
      all = all.subarray(length);
      begin += length;
    }
    this.#rest = all;
    return found;
  }
}

/** The statement that removes finished claims. */
export const COMPLETES = /DELETE FROM sluice_running\b/;

/** The statement with which a pass locks its gates, in either dialect. */
export const LOCKS_GATES =
  /FROM sluice_gate\b[^;]*(FOR NO KEY UPDATE|FOR UPDATE|FOR SHARE|LOCK IN SHARE MODE)/;
