/** A reader of the feed on the workbench. */
import { expect } from "vitest";
import { ALL_TOPICS } from "../../core/change.ts";
import type { Change, Listener, Page } from "../../store/store.ts";
import { LEAST_KEEP_MS } from "../../store/store.ts";
import type { BenchWith } from "./bench.ts";

export const EVERYTHING: Omit<Listener, "id"> = {
  topics: ALL_TOPICS,
  run: null,
  task: null,
  queue: null,
  keepMs: LEAST_KEEP_MS,
};

type FeedBench = BenchWith<"feed">;

export class FeedReader {
  readonly #bench: FeedBench;
  readonly id: string;
  position: number;

  private constructor(bench: FeedBench, id: string, position: number) {
    this.#bench = bench;
    this.id = id;
    this.position = position;
  }

  static async open(bench: FeedBench, id: string, more: Partial<Listener> = {}): Promise<FeedReader> {
    return new FeedReader(bench, id, await bench.store.follow([{ ...EVERYTHING, id, ...more }]));
  }

  look(limit = 1_000): Promise<Page> {
    return this.#bench.store.changes({ after: this.position, limit, listeners: [this.id] });
  }

  /** The changes since the last call, in as many pages as it takes. */
  async news(limit?: number): Promise<Change[]> {
    const all: Change[] = [];
    for (;;) {
      const { changes, more, lapsed, alive } = await this.look(limit);
      expect([lapsed, alive.has(this.id)]).toEqual([false, true]);
      for (const change of changes) {
        expect(change.position).toBe(this.position + 1);
        this.position = change.position;
      }
      all.push(...changes);
      if (!more) return all;
    }
  }

  /** The changes as "a TaskEnqueued". */
  async told(limit?: number): Promise<string[]> {
    return (await this.news(limit)).map(({ subject, kind }) => `${subject} ${kind}`);
  }
}
