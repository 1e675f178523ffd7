/** A task's progress, as a bar if it says how much there is in total, else as it was reported. */
import { cutTo } from "./text.ts";

const WIDTH = 10;

export function bar(part: number): string {
  const full = Math.round(Math.min(1, Math.max(0, part)) * WIDTH);
  return "█".repeat(full) + "░".repeat(WIDTH - full);
}

export function sayProgress(progress: unknown): string {
  const told = toldBy(progress);
  if (told) return `${bar(told.part)} ${told.says}`;
  return cutTo(typeof progress === "string" ? progress : JSON.stringify(progress), 60);
}

/** 0.4, or `{ done: 4, of: 10 }`. The name of the first number does not matter. */
function toldBy(progress: unknown): { readonly part: number; readonly says: string } | undefined {
  if (typeof progress === "number" && progress >= 0 && progress <= 1)
    return { part: progress, says: `${Math.round(progress * 100)}%` };
  if (typeof progress !== "object" || progress === null) return undefined;
  const { of, total = of, ...rest } = progress as Record<string, unknown>;
  const done = Object.values(rest).find((value) => typeof value === "number");
  if (typeof total !== "number" || typeof done !== "number" || total <= 0) return undefined;
  return { part: done / total, says: `${done}/${total}` };
}
