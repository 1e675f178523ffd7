/**
 * Lets several callers share one transaction. A call that finds the store idle is written at once. Calls that
 * come while two transactions are on their way wait for the next one and share it, so a hundred calls at once
 * cost a few commits instead of a hundred.
 *
 * Each call is still all or nothing. If a shared transaction fails, its calls are written one by one, so a
 * call that cannot be stored fails alone.
 */
import { SluiceError } from "../core/error.ts";

const MOST_AT_ONCE = 2;
const MOST_UNITS = 500;
const MOST_CHARACTERS = 1_000_000;

/** Writing the calls one by one would meet the same error. */
const AWAY: ReadonlySet<string> = new Set(["STORE_UNREACHABLE", "STORE_GONE", "CLOSED"]);

interface Call<Unit, Answer> {
  readonly units: readonly Unit[];
  readonly size: number;
  resolve(answers: Answer[]): void;
  reject(error: unknown): void;
}

export class SharedWrite<Unit, Answer> {
  readonly #write: (units: readonly Unit[]) => Promise<Answer[]>;
  readonly #sizeOf: (unit: Unit) => number;
  #waiting: Call<Unit, Answer>[] = [];
  #flights = 0;
  #isDue = false;

  /** `write` answers each unit at its index. */
  constructor(write: (units: readonly Unit[]) => Promise<Answer[]>, sizeOf: (unit: Unit) => number) {
    this.#write = write;
    this.#sizeOf = sizeOf;
  }

  add(units: readonly Unit[]): Promise<Answer[]> {
    return new Promise((resolve, reject) => {
      const size = units.reduce((sum, unit) => sum + this.#sizeOf(unit), 0);
      this.#waiting.push({ units, size, resolve, reject });
      this.#soon();
    });
  }

  /** Calls made at the same moment share a transaction, too. */
  #soon(): void {
    if (this.#isDue || this.#waiting.length === 0 || this.#flights === MOST_AT_ONCE) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      void this.#fly(this.#next());
      this.#soon();
    });
  }

  /** The calls that fit into one transaction: always the first one, however large. */
  #next(): Call<Unit, Answer>[] {
    let units = 0;
    let size = 0;
    const end = this.#waiting.findIndex((call, index) => {
      units += call.units.length;
      size += call.size;
      return index > 0 && (units > MOST_UNITS || size > MOST_CHARACTERS);
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  async #fly(calls: readonly Call<Unit, Answer>[]): Promise<void> {
    this.#flights += 1;
    try {
      await this.#writeAll(calls);
    } finally {
      this.#flights -= 1;
      this.#soon();
    }
  }

  async #writeAll(calls: readonly Call<Unit, Answer>[]): Promise<void> {
    try {
      const answers = await this.#write(calls.flatMap(({ units }) => units));
      let from = 0;
      for (const { units, resolve } of calls) {
        resolve(answers.slice(from, from + units.length));
        from += units.length;
      }
    } catch (error) {
      if (calls.length === 1 || isAway(error)) for (const { reject } of calls) reject(error);
      else for (const call of calls) await this.#writeAll([call]);
    }
  }
}

const isAway = (error: unknown): boolean => error instanceof SluiceError && AWAY.has(error.code);
