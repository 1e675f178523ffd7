/** Time, randomness and ids, handed in at the top so that a test or a simulator can own them. */
import { randomBytes } from "node:crypto";

export interface Env {
  /** A clock that cannot be set back, in milliseconds: for durations only. */
  monotonic(): number;
  wall(): number;
  random(): number;
  newId(): string;
  /** Calls back once after so long; the answer cancels it. Never keeps a process alive. */
  after(ms: number, call: () => void): () => void;
  /** Keeps the process alive until the answer is called: somebody waits for something that happens elsewhere. */
  hold?(): () => void;
}

export function hostEnv(): Env {
  const ids = new Ids();
  return {
    monotonic: () => performance.now(),
    wall: () => Date.now(),
    random: () => Math.random(),
    newId: () => ids.next(Date.now(), () => randomBytes(8)),
    after: (ms, call) => {
      const timer = setTimeout(call, ms);
      timer.unref();
      return () => clearTimeout(timer);
    },
    hold: () => {
      const timer = setInterval(() => {}, 2 ** 30);
      return () => clearInterval(timer);
    },
  };
}

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const RANDOM_DIGITS = 12;

/** Ids sort by time, and within one process by the order in which they were made. */
export class Ids {
  #time = -1;
  #tail = 0n;

  next(time: number, random: () => Uint8Array): string {
    if (time > this.#time) {
      this.#time = time;
      // The top bit stays free, so that counting up within a millisecond never overflows.
      this.#tail = random().reduce((value, byte) => (value << 8n) | BigInt(byte), 0n) & ((1n << 59n) - 1n);
    } else this.#tail += 1n;
    return encode(BigInt(this.#time), 10) + encode(this.#tail, RANDOM_DIGITS);
  }
}

function encode(value: bigint, digits: number): string {
  let text = "";
  let rest = value;
  for (let index = 0; index < digits; index += 1) {
    text = DIGITS[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return text;
}
