/**
 * Reads a pod's log as it comes and keeps its end: the last lines, each of bounded length, and what the pod said of
 * how it ended. However much a program prints, the worker keeps no more than this.
 */
import type { Ending } from "../executor.ts";
import type { PodSaid } from "./report.ts";
import { hear } from "./report.ts";

/** As many lines are kept, and asked for. */
export const MOST_LINES = 1_000;
const MOST_CHARS = 4_000;
/** Data beside a message is kept whole or not at all. */
const MOST_DATA_CHARS = 16_000;
/** Nothing beyond this is kept of one line, not even of the one with the result. */
const LONGEST_LINE = 4 * 1024 * 1024;

interface LogLine {
  readonly message: string;
  readonly data?: unknown;
}

export class LogTail {
  readonly #fence: number;
  readonly #lines: LogLine[] = [];
  #open = "";
  #last: Extract<PodSaid, { kind: "ended" | "garbled" }> | undefined;
  #progress: { readonly value: unknown } | undefined;

  constructor(fence: number) {
    this.#fence = fence;
  }

  push(text: string): void {
    const parts = (this.#open + text).split("\n");
    this.#open = (parts.pop() ?? "").slice(0, LONGEST_LINE);
    for (const line of parts) this.#take(line);
  }

  /** The log is over: its last line may have no end. */
  close(): this {
    this.#take(this.#open);
    this.#open = "";
    return this;
  }

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  get ending(): Ending | undefined {
    return this.#last?.kind === "ended" ? this.#last.ending : undefined;
  }

  /** It did say how it ended, but not all of that arrived. */
  get isGarbled(): boolean {
    return this.#last?.kind === "garbled";
  }

  get progress(): { readonly value: unknown } | undefined {
    return this.#progress;
  }

  #take(line: string): void {
    const said = hear(this.#fence, line);
    if (said === undefined) return;
    if (said.kind === "log") this.#keep(line.length > MOST_DATA_CHARS ? { message: said.message } : said);
    else if (said.kind === "progress") this.#progress = { value: said.value };
    else this.#last = said;
  }

  #keep({ message, data }: LogLine): void {
    const short = message.length > MOST_CHARS ? `${message.slice(0, MOST_CHARS)}…` : message;
    this.#lines.push(data === undefined ? { message: short } : { message: short, data });
    if (this.#lines.length > MOST_LINES) this.#lines.shift();
  }
}
