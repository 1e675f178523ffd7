/** Progress and log lines of running tasks, gathered for a moment and written together. */
import type { EventKind } from "../../core/event.ts";
import { readableJson } from "../../core/readable.ts";
import type { Env } from "../../env/env.ts";
import { culprits } from "../../store/culprits.ts";
import type { Claims } from "../claiming/claims.ts";

const GATHER_MS = 50;

export class Journal {
  readonly #claims: Claims;
  readonly #env: Env;
  #progress = new Map<number, { id: string; epoch: number; value: string }>();
  #lines: { id: string; epoch: number; kind: EventKind; data: string }[] = [];
  #planned = false;
  #writing: Promise<void> = Promise.resolve();
  /** Claims with entries on their way to the store. */
  readonly #underway = new Map<number, number>();

  constructor(claims: Claims, env: Env) {
    this.#claims = claims;
    this.#env = env;
  }

  /**
   * Only the newest value counts. A value that is not JSON is described in words: progress never fails a
   * task.
   */
  progress(id: string, epoch: number, value: unknown): void {
    this.#progress.set(epoch, { id, epoch, value: readableJson(value) });
    this.#plan();
  }

  log(id: string, epoch: number, message: string, data: unknown): void {
    this.#lines.push({
      id,
      epoch,
      kind: "TaskLogged",
      data: readableJson(data === undefined ? { message } : { message, data }),
    });
    this.#plan();
  }

  /** True if something of this claim is not yet written. `flush` waits for that, too. */
  has(epoch: number): boolean {
    return (
      this.#underway.has(epoch) ||
      this.#progress.has(epoch) ||
      this.#lines.some((line) => line.epoch === epoch)
    );
  }

  /**
   * Writes what was gathered. An entry that cannot be stored is left out, and only that entry. If the store
   * is away, lines are lost, but never a task.
   */
  flush(): Promise<void> {
    const progress = [...this.#progress.values()];
    const lines = this.#lines;
    this.#progress = new Map();
    this.#lines = [];
    const epochs = new Set([...lines, ...progress].map(({ epoch }) => epoch));
    for (const epoch of epochs) this.#underway.set(epoch, (this.#underway.get(epoch) ?? 0) + 1);
    this.#writing = this.#writing.then(async () => {
      await written(lines, (part) => this.#claims.note(part));
      await written(progress, (part) => this.#claims.progress(part));
      for (const epoch of epochs) {
        const left = (this.#underway.get(epoch) ?? 0) - 1;
        if (left > 0) this.#underway.set(epoch, left);
        else this.#underway.delete(epoch);
      }
    });
    return this.#writing;
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    this.#env.after(GATHER_MS, () => {
      this.#planned = false;
      void this.flush();
    });
  }
}

const written = <T>(entries: readonly T[], write: (part: readonly T[]) => Promise<void>): Promise<unknown> =>
  culprits(entries, write).catch(() => {});
