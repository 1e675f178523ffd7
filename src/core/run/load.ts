/**
 * How much data one look at runs may read and build. A look runs in the process that also keeps the leases of
 * its worker, so the data of one run must never exhaust that process. All sizes are known before anything is
 * read.
 */
import { SluiceError } from "../error.ts";
import type { Json } from "../workflow/template.ts";

const MB = 1024 * 1024;

/** The most that the input of a step may take, and the data that it is made of. */
export const MOST_LOADED = 64 * MB;

/**
 * A text is needed several times at once: as read, as parsed, as written, and in the message to the database.
 */
const COPIES = 16;

/** The limit of a process that may use this much memory. */
export const mostLoaded = (heap: number): number => Math.min(MOST_LOADED, Math.floor(heap / COPIES));

/** Something that is read or built, and its size in bytes. */
export interface Part {
  readonly what: string;
  readonly size: number;
}

/** `need` names the step, or the run, that needs these parts at once. */
export function tooLarge(need: string, parts: readonly Part[], most: number): SluiceError {
  const total = parts.reduce((sum, { size }) => sum + size, 0);
  const largest = [...parts].sort((a, b) => b.size - a.size);
  const named = largest.slice(0, NAMED).map(({ what, size }) => `${what} (${sayMb(size)})`);
  const rest = parts.length > NAMED ? [`${parts.length - NAMED} more`] : [];
  return new SluiceError(
    "DATA_TOO_LARGE",
    `${need} needs ${sayMb(total)} of data at once: ${[...named, ...rest].join(", ")}. The limit is ${sayMb(most)}. Return less, or store the data elsewhere and return a reference to it.`,
    { details: { size: total, limit: most } },
  );
}

const NAMED = 5;

const sayMb = (size: number): string =>
  size < MB / 10 ? `${Math.ceil(size / 1024)} kB` : `${(Math.ceil((10 * size) / MB) / 10).toFixed(1)} MB`;

/** The length of a value as JSON. Counting stops beyond `most`, so a value that repeats a part costs no more. */
export function jsonLength(value: Json | undefined, most: number): number {
  if (value === undefined) return 0;
  if (typeof value === "string") return value.length + 2;
  if (value === null || typeof value !== "object") return String(value).length;
  let length = 2;
  for (const key in value) {
    if (length > most) return length;
    const each = (value as Readonly<Record<string, Json>>)[key] as Json;
    length += 1 + (Array.isArray(value) ? 0 : key.length + 3) + jsonLength(each, most - length);
  }
  return length;
}

/**
 * As many runs as may be read at once, in order, but at least one. A run that is too large by itself is not
 * read at all, so it takes no room.
 */
export function portion(
  ids: readonly string[],
  sizes: ReadonlyMap<string, number>,
  most: number,
): { readonly now: readonly string[]; readonly later: readonly string[] } {
  let sum = 0;
  const fits = (id: string): boolean => {
    const size = sizes.get(id) ?? 0;
    if (size > most) return true;
    sum += size;
    return sum <= most;
  };
  const end = ids.findIndex((id) => !fits(id));
  return end < 0 ? { now: ids, later: [] } : { now: ids.slice(0, end), later: ids.slice(end) };
}
