/**
 * Observes our pods of one namespace with one watch for all of them, while there are followers.
 *
 *   list ──▶ watch from there ──▶ ended after a while: watch on ──▶ too old (410), broken or silent: list again
 *
 * A list is complete, so nothing that happened in between is missed. If watches do not work at all, the lists
 * and their pauses amount to polling. If lists are refused, each pod is requested by name. A pod that is
 * missing from a list is only reported as `absent`: it may be too young.
 */
import { sleep } from "../../env/timers.ts";
import type { Pacing } from "./pacing.ts";
import { pauseAfter } from "./pacing.ts";
import type { Pod } from "./pod.ts";
import type { PodApi } from "./pod-api.ts";
import { ApiRefused } from "./request.ts";

export interface Follower {
  seen(pod: Pod): void;
  /** The pod is gone for good. */
  deleted(): void;
  /** The pod was not in a list. Look for it by name. */
  absent(): void;
}

interface PodWatchOptions {
  readonly api: PodApi;
  readonly namespace: string;
  readonly selector: string;
  readonly pacing: Pacing;
  readonly away: (error: Error, failures: number) => void;
}

export class PodWatch {
  readonly #options: PodWatchOptions;
  readonly #followers = new Map<string, Follower>();
  #watching: AbortController | undefined;

  constructor(options: PodWatchOptions) {
    this.#options = options;
  }

  /** Returns a function that stops following. */
  follow(name: string, follower: Follower): () => void {
    this.#followers.set(name, follower);
    if (!this.#watching) void this.#begin();
    return () => {
      if (this.#followers.get(name) === follower) this.#followers.delete(name);
      if (this.#followers.size > 0) return;
      this.#watching?.abort();
      this.#watching = undefined;
    };
  }

  async #begin(): Promise<void> {
    const stop = new AbortController();
    this.#watching = stop;
    let version: string | undefined;
    for (let failures = 0; !stop.signal.aborted; ) {
      let isQuiet = true;
      try {
        version ??= await this.#list(stop.signal);
        await this.#watch(version, stop.signal, (last) => {
          version = last ?? version;
          isQuiet = false;
          failures = 0;
        });
        if (!isQuiet) continue;
      } catch (error) {
        if (stop.signal.aborted) return;
        if (!isTooOld(error)) this.#options.away(error as Error, failures + 1);
        // Without the right to list, we can still request each pod by name.
        if (version === undefined && error instanceof ApiRefused) this.#askForAll();
      }
      // A watch that showed nothing may be broken without an error. Pause, then list everything.
      failures += 1;
      version = undefined;
      await sleep(pauseAfter(failures, this.#options.pacing, Math.random()), stop.signal);
    }
  }

  #askForAll(): void {
    for (const follower of [...this.#followers.values()]) follower.absent();
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { api, namespace, selector } = this.#options;
    const { pods, version } = await api.list(namespace, selector, signal);
    const there = new Set<string>();
    for (const pod of pods) {
      there.add(pod.metadata.name);
      this.#followers.get(pod.metadata.name)?.seen(pod);
    }
    for (const [name, follower] of [...this.#followers]) if (!there.has(name)) follower.absent();
    return version;
  }

  async #watch(
    version: string,
    signal: AbortSignal,
    changed: (version: string | undefined) => void,
  ): Promise<void> {
    const { api, namespace, selector } = this.#options;
    for await (const { type, pod } of api.watch(namespace, selector, version, signal)) {
      changed(pod.metadata.resourceVersion);
      const follower = type === "BOOKMARK" ? undefined : this.#followers.get(pod.metadata.name);
      if (type === "DELETED") follower?.deleted();
      else follower?.seen(pod);
    }
  }
}

const isTooOld = (error: unknown): boolean => error instanceof ApiRefused && error.status === 410;
