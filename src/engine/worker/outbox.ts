/** What the store has to be told of claims: kept until an answer says that it was heard. */
import { isStopped } from "../../store/store.ts";
import type { Finished } from "../claiming/claims.ts";
import type { Machine } from "./machine.ts";

export class Outbox {
  readonly #machine: Pick<Machine, "happened">;
  #finished: Finished[] = [];
  /** Claims of which a report is on its way that they are over, while their code runs on. */
  readonly #telling = new Set<number>();

  constructor(machine: Pick<Machine, "happened">) {
    this.#machine = machine;
  }

  add(finished: Finished): void {
    this.#finished.push(finished);
    this.#machine.happened("toSay");
  }

  get isEmpty(): boolean {
    return this.#finished.length === 0;
  }

  /** The claims that something is said of. */
  get epochs(): ReadonlySet<number> {
    return new Set(this.#finished.map(({ epoch }) => epoch));
  }

  /** That code has stopped is said when it is known that its claim was over: before, the store would not know of what. */
  get sayable(): Finished[] {
    return this.#finished.filter((one) => !isStopped(one) || !this.#telling.has(one.epoch));
  }

  /** What can be said now goes on its way; `told` or `untold` follows. */
  take(): Finished[] {
    const taken = this.sayable;
    this.#finished = this.#finished.filter((one) => isStopped(one) && this.#telling.has(one.epoch));
    for (const one of taken) if ("stopping" in one) this.#telling.add(one.epoch);
    return taken;
  }

  told(taken: readonly Finished[]): void {
    for (const one of taken) if ("stopping" in one) this.#telling.delete(one.epoch);
  }

  /** Nobody knows whether it was heard, so it is said again, before all else. */
  untold(taken: readonly Finished[]): void {
    this.#finished = [...taken, ...this.#finished];
    this.told(taken);
  }

  clear(): void {
    this.#finished = [];
  }
}
