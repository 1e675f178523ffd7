/**
 * Durations as people write them, and instants as people read them. A duration is text with units, because a
 * bare number does not say its unit. An instant is milliseconds since 1970, and is always passed in.
 */
import { SluiceError } from "./error.ts";

/** "30s", "5m", "1h30m", "250ms", "1.5s": units d, h, m, s, ms, each at most once, the largest first. */
export type Duration = string;

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
] as const;

const GRAMMAR = new RegExp(`^${UNITS.map(([unit]) => `(?:(\\d+(?:\\.\\d+)?)${unit})?`).join("")}$`);

/** Returns whole milliseconds, or throws BAD_DURATION. */
export function parseDuration(text: Duration): number {
  const parts = typeof text === "string" && text !== "" ? GRAMMAR.exec(text) : null;
  if (!parts) throw misread(text);
  const exact = UNITS.reduce((sum, [, size], index) => sum + Number(parts[index + 1] ?? 0) * size, 0);
  const ms = Math.round(exact);
  if (!Number.isSafeInteger(ms))
    throw badDuration(text, "is too long to count in milliseconds", "write a shorter one");
  // The tolerance is for 1.005s, which is 1004.9999999999999 in binary, not for fractions of a millisecond.
  if (Math.abs(exact - ms) > 1e-3) throw badDuration(text, "is finer than a millisecond", "round it");
  return ms;
}

/** The exact reverse of parseDuration: "4m12s", "1h30m", "850ms", "0ms". */
export function formatDuration(ms: number): Duration {
  if (ms < 0) return `-${formatDuration(-ms)}`;
  let rest = Math.round(ms);
  let text = "";
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text || "0ms";
}

/**
 * For reading only: from one second on, milliseconds are left out. A negative duration, after the clock ran
 * back, reads as 0ms.
 */
export function sayDuration(ms: number): string {
  return formatDuration(ms < 1000 ? Math.max(0, ms) : Math.floor(ms / 1000) * 1000);
}

/**
 * An instant in UTC to the second, "2026-11-16T03:00:00Z". Uses its own arithmetic, so that core never
 * touches a clock.
 */
export function isoTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const days = Math.floor(seconds / 86_400);
  const inDay = seconds - days * 86_400;
  const time = [inDay / 3600, (inDay / 60) % 60, inDay % 60].map(twoDigits).join(":");
  return `${isoDate(days)}T${time}Z`;
}

function isoDate(days: number): string {
  const { year, month, day } = dateOf(days);
  return `${String(year).padStart(4, "0")}-${twoDigits(month)}-${twoDigits(day)}`;
}

/**
 * Turns days since 1970-01-01 into a date. It uses eras of 400 years, and years that begin in March, so leap
 * days come last.
 */
export function dateOf(days: number): {
  readonly year: number;
  readonly month: number;
  readonly day: number;
} {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const ofEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / 153);
  const day = ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

function twoDigits(value: number): string {
  return String(Math.floor(value)).padStart(2, "0");
}

function misread(text: unknown): SluiceError {
  const hasNoUnit = typeof text === "number" || /^\d+(\.\d+)?$/.test(sayValue(text));
  if (hasNoUnit) return badDuration(text, "has no unit", `write "${text}s" or "${text}ms"`);
  return badDuration(text, "is not a duration", 'write it like "30s", "5m", "1h30m" or "250ms"');
}

/** An object may refuse to become a text. */
const sayValue = (value: unknown): string =>
  typeof value === "object" && value !== null ? "an object" : String(value);

function badDuration(text: unknown, what: string, cure: string): SluiceError {
  const rule = `${typeof text === "string" ? `"${text}"` : sayValue(text)} ${what}`;
  return new SluiceError("BAD_DURATION", `duration ${rule}: ${cure}`, {
    details: { value: text, rule, cure },
  });
}
