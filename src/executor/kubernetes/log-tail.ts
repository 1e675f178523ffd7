/**
 * Reads a pod's log as it arrives and keeps its end: the last lines, each of bounded length, and the pod's
 * report of how it ended. However much a program prints, the worker keeps no more than this.
 */
import type { Ending } from "../executor.ts";
import type { PodSaid } from "./report.ts";
import { hear } from "./report.ts";

/** The number of lines that are requested and kept. */
export const MOST_LINES = 1_000;
const MOST_CHARS = 4_000;
/** The data of a message is kept whole or not at all. */
const MOST_DATA_CHARS = 16_000;
/** No more than this is kept of one line, not even of the line with the result. */
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

  /** The log is over. Its last line may lack a newline. */
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

  /** The pod did report how it ended, but the report is incomplete. */
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
