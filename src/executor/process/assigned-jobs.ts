/** The jobs that a child has been given, each under a number that is never used again. */
import type { Assignment } from "./assignment.ts";

export class AssignedJobs {
  readonly #assigned = new Map<number, Assignment>();
  /** Those of them that should have ended: the child may have to be killed for them. */
  readonly #aborted = new Set<number>();
  #offers = 0;

  /** Its number. */
  add(assignment: Assignment): number {
    this.#offers += 1;
    const job = this.#offers;
    this.#assigned.set(job, assignment);
    return job;
  }

  get(job: number): Assignment | undefined {
    return this.#assigned.get(job);
  }

  remove(job: number): void {
    this.#assigned.delete(job);
    this.#aborted.delete(job);
  }

  mustEnd(job: number): void {
    this.#aborted.add(job);
  }

  get size(): number {
    return this.#assigned.size;
  }

  /** Whoever is in here when aborted code does not end goes down with it. */
  get isRisky(): boolean {
    return this.#aborted.size > 0;
  }

  /** Whether code runs, not only waits to begin. */
  get isRunning(): boolean {
    return this.all.some(({ hasBegun }) => hasBegun);
  }

  get all(): Assignment[] {
    return [...this.#assigned.values()];
  }

  /** All of them; none is in here any longer. */
  takeAll(): Assignment[] {
    const { all } = this;
    this.#assigned.clear();
    return all;
  }
}
