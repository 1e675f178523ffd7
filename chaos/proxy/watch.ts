/**
 * What a line between a process and its database overhears. Bytes are read by the framing of the protocol, never by
 * packet: a message may come in pieces, and a packet may hold many.
 */
export interface Watch {
  /** How many of these bytes come before a message that asks for a commit; undefined when there is none. */
  fromClient(bytes: Buffer): number | undefined;
  fromServer(bytes: Buffer): Heard;
}

export interface Heard {
  /** The server has said that a commit is done. */
  readonly committed: boolean;
  /**
   * Everything that was asked has been answered, and a pass is open that has completed something: its locks are held,
   * its second half is to come.
   */
  readonly insidePass: boolean;
}

/** Cuts a stream of bytes into messages. `lengthOf` says how long the first one is, once that can be told. */
export class Framing {
  readonly #lengthOf: (bytes: Buffer) => number | undefined;
  #rest: Buffer = Buffer.alloc(0);

  constructor(lengthOf: (bytes: Buffer) => number | undefined) {
    this.#lengthOf = lengthOf;
  }

  /** The messages that are complete now, each with where it begins in `bytes` (before 0: in an earlier packet). */
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

/** The statement with which what is finished leaves. */
export const COMPLETES = /DELETE FROM sluice_running\b/;

/** The statement with which a pass takes its gates, in either dialect. */
export const LOCKS_GATES =
  /FROM sluice_gate\b[^;]*(FOR NO KEY UPDATE|FOR UPDATE|FOR SHARE|LOCK IN SHARE MODE)/;
