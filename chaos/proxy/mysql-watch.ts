/**
 * The protocol of MySQL and MariaDB: three bytes of length and a sequence number. A flight is one packet of
 * several statements, so a commit cannot be separated from what it commits: "before it reached the server"
 * means that the last flight did not. The answer to a flight is complete with the first result that announces
 * no other. If the flight ended with COMMIT, that result is the commit's own.
 */
import type { Heard, Watch } from "./watch.ts";
import { COMPLETES, Framing, LOCKS_GATES } from "./watch.ts";

const COMMIT = /(^|;)\s*COMMIT\s*$/;
const COM_QUERY = 3;
const IN_TRANSACTION = 0x0001;
const MORE_RESULTS = 0x0008;
const NO_EOF = 1 << 24;

const lengthOf = (bytes: Buffer): number | undefined =>
  bytes.length < 4 ? undefined : 4 + bytes.readUIntLE(0, 3);

type Expecting = "greeting" | "nothing" | "result" | "columns" | "rows";

export class MysqlWatch implements Watch {
  readonly #client = new Framing(lengthOf);
  readonly #server = new Framing(lengthOf);
  #greeted = false;
  #withEof = true;
  #expecting: Expecting = "greeting";
  #columns = 0;
  #inPass = false;
  #commits = false;

  fromClient(bytes: Buffer): number | undefined {
    let commit: number | undefined;
    for (const { message, begin } of this.#client.read(bytes)) {
      if (!this.#greeted) {
        this.#greeted = true;
        this.#withEof = (message.readUInt32LE(4) & NO_EOF) === 0;
        continue;
      }
      if (message[3] !== 0) continue;
      this.#expecting = message[4] === COM_QUERY ? "result" : "nothing";
      const query = message[4] === COM_QUERY ? message.toString("utf8", 5) : "";
      this.#commits = COMMIT.test(query);
      if (LOCKS_GATES.test(query) && COMPLETES.test(query)) this.#inPass = true;
      if (this.#commits) commit ??= begin;
    }
    return commit;
  }

  fromServer(bytes: Buffer): Heard {
    const heard = { committed: false, insidePass: false };
    for (const { message } of this.#server.read(bytes)) {
      const status = this.#statusIn(message);
      if (status === undefined || (status & MORE_RESULTS) !== 0) continue;
      this.#expecting = "nothing";
      const open = (status & IN_TRANSACTION) !== 0;
      if (this.#commits && !open) heard.committed = true;
      heard.insidePass = open && this.#inPass && !this.#commits;
      if (!open) this.#inPass = false;
    }
    return heard;
  }

  /** The server's status if a result ends with this message, otherwise undefined. */
  #statusIn(message: Buffer): number | undefined {
    const mark = message[4];
    if (this.#expecting === "greeting" || this.#expecting === "nothing") return undefined;
    if (mark === 0xff) {
      // An error ends the flight. We do not guess what it leaves open.
      this.#expecting = "nothing";
      this.#commits = false;
      this.#inPass = false;
      return undefined;
    }
    if (this.#expecting === "result") {
      if (mark === 0x00) return statusOfOk(message);
      this.#columns = Number(mark);
      this.#expecting = "columns";
      return undefined;
    }
    const isEnd = mark === 0xfe && message.length < (this.#withEof ? 13 : 0xffffff);
    if (this.#expecting === "columns") {
      if (isEnd || (!this.#withEof && --this.#columns === 0)) this.#expecting = "rows";
      return undefined;
    }
    if (!isEnd) return undefined;
    this.#expecting = "result";
    return this.#withEof ? message.readUInt16LE(7) : statusOfOk(message);
  }
}

/** An OK packet: two numbers of variable length, then the status. */
function statusOfOk(message: Buffer): number {
  let at = 5;
  for (let skipped = 0; skipped < 2; skipped += 1) {
    const first = message[at] as number;
    at += first < 0xfb ? 1 : first === 0xfc ? 3 : first === 0xfd ? 4 : 9;
  }
  return message.readUInt16LE(at);
}
