/**
 * The messages of one flight, written one after the other into one buffer. The driver makes a buffer for each
 * message, and the operating system is then handed a list of them.
 */

const PARSE = 80;
const BIND = 66;
const DESCRIBE = 68;
const EXECUTE = 69;
const SYNC = 83;

/** An unnamed portal, and as many rows as there are. */
const DESCRIBE_PORTAL = Buffer.from([DESCRIBE, 0, 0, 0, 6, 80, 0]);
const EXECUTE_PORTAL = Buffer.from([EXECUTE, 0, 0, 0, 9, 0, 0, 0, 0, 0]);
const SYNC_ALL = Buffer.from([SYNC, 0, 0, 0, 4]);

/** A text takes at most this many bytes for each of its units. A long one is measured. */
const BYTES = 3;
const LONG = 1_000;
const bytesOf = (text: string): number =>
  text.length > LONG ? Buffer.byteLength(text) : text.length * BYTES;

const USUAL = 32_768;
/** A larger room is not kept. */
const MOST_KEPT = 262_144;

/** A flight is written at a stretch, so all connections share the room it is written in. */
let room = Buffer.allocUnsafe(USUAL);

export class Packet {
  #end = 0;

  parse(name: string, text: string): void {
    const start = this.#begin(PARSE, bytesOf(name) + bytesOf(text) + 4);
    this.#text(name);
    this.#text(text);
    this.#short(0);
    this.#finish(start);
  }

  /** All values travel as text, and so do all answers. */
  bind(name: string, values: readonly (string | null)[]): void {
    let most = bytesOf(name) + 8;
    for (const value of values) most += 4 + (value === null ? 0 : bytesOf(value));
    const start = this.#begin(BIND, most);
    room[this.#end] = 0;
    this.#end += 1;
    this.#text(name);
    this.#short(0);
    this.#short(values.length);
    for (const value of values) this.#value(value);
    this.#short(0);
    this.#finish(start);
  }

  describe(): void {
    this.#add(DESCRIBE_PORTAL);
  }

  execute(): void {
    this.#add(EXECUTE_PORTAL);
  }

  sync(): void {
    this.#add(SYNC_ALL);
  }

  /** To be called once. The next flight may be written before this one is on its way, so this is a copy. */
  bytes(): Buffer {
    const all = room.subarray(0, this.#end);
    if (room.length <= MOST_KEPT) return Buffer.from(all);
    room = Buffer.allocUnsafe(USUAL);
    return all;
  }

  /** Returns where the message begins. Its length is not known yet. */
  #begin(kind: number, most: number): number {
    this.#need(most + 5);
    const start = this.#end;
    room[start] = kind;
    this.#end += 5;
    return start;
  }

  #finish(start: number): void {
    room.writeInt32BE(this.#end - start - 1, start + 1);
  }

  #value(value: string | null): void {
    const start = this.#end;
    this.#end += 4;
    if (value === null) {
      room.writeInt32BE(-1, start);
      return;
    }
    const length = room.write(value, this.#end, "utf8");
    room.writeInt32BE(length, start);
    this.#end += length;
  }

  #text(text: string): void {
    this.#end += room.write(text, this.#end, "utf8");
    room[this.#end] = 0;
    this.#end += 1;
  }

  #short(value: number): void {
    this.#end = room.writeInt16BE(value, this.#end);
  }

  #add(message: Buffer): void {
    this.#need(message.length);
    room.set(message, this.#end);
    this.#end += message.length;
  }

  #need(more: number): void {
    if (this.#end + more <= room.length) return;
    const larger = Buffer.allocUnsafe(Math.max(room.length * 2, this.#end + more));
    room.copy(larger, 0, 0, this.#end);
    room = larger;
  }
}
