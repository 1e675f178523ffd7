/** Reports about claims, kept until an answer confirms that the store has them. */
import { isStopped } from "../../store/store.ts";
import type { Finished } from "../claiming/claims.ts";
import type { Machine } from "./machine.ts";

export class Outbox {
  readonly #machine: Pick<Machine, "happened">;
  #finished: Finished[] = [];
  /** Claims with a report in flight that says they are over while their code still runs. */
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

  /** The claims with a report here. */
  get epochs(): ReadonlySet<number> {
    return new Set(this.#finished.map(({ epoch }) => epoch));
  }

  /**
   * The reports that can be sent now. The report that code has stopped is sent only after the store knows
   * that the claim is over. Before that, the store has no such claim among those that are stopping.
   */
  get sayable(): Finished[] {
    return this.#finished.filter((one) => !isStopped(one) || !this.#telling.has(one.epoch));
  }

  /** Takes the first reports that can be sent now. `told` or `untold` follows. */
  take(most = Number.POSITIVE_INFINITY): Finished[] {
    const all = this.sayable;
    const taken = all.slice(0, most);
    const later = all.length > most ? all.slice(most) : [];
    const held = this.#finished.filter((one) => isStopped(one) && this.#telling.has(one.epoch));
    this.#finished = [...later, ...held];
    for (const one of taken) if ("stopping" in one) this.#telling.add(one.epoch);
    return taken;
  }

  told(taken: readonly Finished[]): void {
    for (const one of taken) if ("stopping" in one) this.#telling.delete(one.epoch);
  }

  /** It is unknown whether the store received these, so they are sent again, before all others. */
  untold(taken: readonly Finished[]): void {
    this.#finished = [...taken, ...this.#finished];
    this.told(taken);
  }

  clear(): void {
    this.#finished = [];
  }
}
