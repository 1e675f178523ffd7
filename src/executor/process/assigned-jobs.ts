/** The jobs assigned to a child. Each has a number that is never used again. */
import type { Assignment } from "./assignment.ts";

export class AssignedJobs {
  readonly #assigned = new Map<number, Assignment>();
  /** Jobs that should have ended. The child may have to be killed because of them. */
  readonly #aborted = new Set<number>();
  #offers = 0;

  /** Returns the number of the job. */
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

  /** True if aborted code has not ended yet. If it never does, the child is killed with all its jobs. */
  get isRisky(): boolean {
    return this.#aborted.size > 0;
  }

  /** True if code runs. Jobs that wait to start do not count. */
  get isRunning(): boolean {
    return this.all.some(({ hasBegun }) => hasBegun);
  }

  get all(): Assignment[] {
    return [...this.#assigned.values()];
  }

  /** Removes and returns all of them. */
  takeAll(): Assignment[] {
    const { all } = this;
    this.#assigned.clear();
    return all;
  }
}
