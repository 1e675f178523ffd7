/**
 * The reports of a pod in its log, line by line. Our lines begin with a mark that contains the fence, so that
 * nothing a program happens to print is mistaken for one:
 *
 *   ::sluice:7:log::{"message":"half way","data":{"n":1}}
 *   ::sluice:7:ended::{"ok":true,"result":"{\"sum\":3}"}
 *
 * The last `ended` counts. Every other line is the program's own and is kept as a log line.
 */
import { readableJson } from "../../core/readable.ts";
import { nextDueOf } from "../../core/task/steering.ts";
import type { Ending } from "../executor.ts";

export type PodSaid =
  | { readonly kind: "log"; readonly message: string; readonly data?: unknown }
  | { readonly kind: "progress"; readonly value: unknown }
  | { readonly kind: "ended"; readonly ending: Ending }
  /** An `ended` line that was cut off or is unreadable. */
  | { readonly kind: "garbled" };

type Kind = "log" | "progress" | "ended";

const mark = (fence: number, kind: Kind): string => `::sluice:${fence}:${kind}::`;

export const sayLog = (fence: number, message: string, data?: unknown): string =>
  mark(fence, "log") + readableJson({ message, data });

export const sayProgress = (fence: number, value: unknown): string =>
  mark(fence, "progress") + readableJson(value);

export const sayEnded = (fence: number, ending: Ending): string =>
  mark(fence, "ended") + JSON.stringify(ending);

/** The meaning of a line of the log. Undefined for an empty line. */
export function hear(fence: number, line: string): PodSaid | undefined {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  if (text === "") return undefined;
  for (const kind of ["log", "progress", "ended"] as const) {
    const begins = mark(fence, kind);
    if (text.startsWith(begins))
      return ours(kind, text.slice(begins.length)) ?? { kind: "log", message: text };
  }
  return { kind: "log", message: text };
}

function ours(kind: Kind, json: string): PodSaid | undefined {
  const value = parsed(json);
  if (kind === "ended") return isEnding(value) ? { kind, ending: value } : { kind: "garbled" };
  if (value === undefined) return undefined;
  if (kind === "progress") return { kind, value };
  const { message, data } = value as { message?: unknown; data?: unknown };
  return typeof message === "string" ? { kind, message, ...(data === undefined ? {} : { data }) } : undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function isEnding(value: unknown): value is Ending {
  const { ok, result, error, retryable, next } = (value ?? {}) as Record<string, unknown>;
  if (ok === true) return typeof result === "string";
  const { name, message } = (error ?? {}) as Record<string, unknown>;
  return (
    ok === false &&
    typeof name === "string" &&
    typeof message === "string" &&
    typeof retryable === "boolean" &&
    (next === undefined || nextDueOf(next) !== undefined)
  );
}
