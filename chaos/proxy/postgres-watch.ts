/**
 * PostgreSQL's protocol: a letter and a length. A statement may be prepared once and then used by its name.
 */
import type { Heard, Watch } from "./watch.ts";
import { COMPLETES, Framing, LOCKS_GATES } from "./watch.ts";

const COMMIT = /^\s*COMMIT\s*;?\s*$/i;
const letter = (message: Buffer): string => String.fromCharCode(message[0] as number);

export class PostgresWatch implements Watch {
  readonly #statements = new Map<string, string>();
  readonly #client: Framing;
  readonly #server: Framing;
  #greeted = false;
  /** The number of answers still to come. The greeting is one. */
  #open = 1;
  #inPass = false;
  #completes = false;

  constructor() {
    this.#client = new Framing((bytes) => {
      // The first message has no letter.
      if (!this.#greeted) return bytes.length < 4 ? undefined : bytes.readUInt32BE(0);
      return bytes.length < 5 ? undefined : 1 + bytes.readUInt32BE(1);
    });
    this.#server = new Framing((bytes) => (bytes.length < 5 ? undefined : 1 + bytes.readUInt32BE(1)));
  }

  fromClient(bytes: Buffer): number | undefined {
    let commit: number | undefined;
    for (const { message, begin } of this.#client.read(bytes)) {
      if (!this.#greeted) {
        this.#greeted = true;
        continue;
      }
      if (this.#asks(message)) commit ??= begin;
    }
    return commit;
  }

  /** True if this message asks for a commit. */
  #asks(message: Buffer): boolean {
    switch (letter(message)) {
      case "Q":
        this.#open += 1;
        return COMMIT.test(text(message, 5));
      case "S":
        this.#open += 1;
        return false;
      case "P": {
        const name = text(message, 5);
        this.#statements.set(name, text(message, 6 + Buffer.byteLength(name)));
        return false;
      }
      case "B": {
        const portal = text(message, 5);
        const statement = this.#statements.get(text(message, 6 + Buffer.byteLength(portal))) ?? "";
        if (COMPLETES.test(statement)) this.#completes = true;
        if (LOCKS_GATES.test(statement)) this.#inPass = true;
        return COMMIT.test(statement);
      }
      default:
        return false;
    }
  }

  fromServer(bytes: Buffer): Heard {
    let committed = false;
    let inTransaction = false;
    for (const { message } of this.#server.read(bytes)) {
      const kind = letter(message);
      if (kind === "C" && text(message, 5) === "COMMIT") committed = true;
      if (kind !== "Z") continue;
      this.#open -= 1;
      inTransaction = message[5] === 0x54;
      if (inTransaction) continue;
      this.#inPass = false;
      this.#completes = false;
    }
    return { committed, insidePass: inTransaction && this.#inPass && this.#completes && this.#open === 0 };
  }
}

/** The zero-terminated text at this position. */
function text(message: Buffer, from: number): string {
  const end = message.indexOf(0, from);
  return message.toString("utf8", from, end < 0 ? undefined : end);
}
