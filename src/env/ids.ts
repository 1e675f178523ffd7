/** IDs of units: 22 letters and digits that sort by time. */

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const RANDOM_DIGITS = 12;

/** Within one process, IDs also sort by the order in which they were made. */
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
