/** The requests of a process: those in line, those held, and units that are to leave the line. */
import type { Request, Wish } from "./request.ts";

export class Book {
  readonly #requests = new Map<string, Request>();
  /** Units of requests that are over but may still be in line. */
  readonly #unwanted = new Set<string>();

  get isEmpty(): boolean {
    return this.#requests.size + this.#unwanted.size === 0;
  }

  get(id: string): Request | undefined {
    return this.#requests.get(id);
  }

  get wanted(): Request[] {
    return [...this.#requests.values()].filter(({ isWanted }) => isWanted);
  }

  get inLine(): Request[] {
    return [...this.#requests.values()].filter(({ state }) => state === "waiting");
  }

  get unwanted(): string[] {
    return [...this.#unwanted];
  }

  /** The request that a caller with this wish can share: the same holder asks for the same slots, or has them. */
  shared({ gate, slots, holder }: Wish): Request | undefined {
    if (holder === undefined) return undefined;
    return [...this.#requests.values()].find(
      ({ wish, state, isWanted }) =>
        wish.gate === gate &&
        wish.holder === holder &&
        wish.slots === slots &&
        (isWanted || state === "held"),
    );
  }

  add(request: Request): void {
    this.#requests.set(request.id, request);
  }

  remove(request: Request): void {
    this.#requests.delete(request.id);
  }

  /** The request is over, or asks with another unit from now on. */
  dismiss(id: string): void {
    this.#requests.delete(id);
    this.#unwanted.add(id);
  }

  dismissed(ids: readonly string[]): void {
    for (const id of ids) this.#unwanted.delete(id);
  }
}
