/**
 * A parsed cron expression: the wall-clock times it names. It has five fields (minute, hour, day of month,
 * month, day of week), or six with seconds in front. It supports `*`, lists, ranges, steps, names of months
 * and days, `L` for the last day of a month, and the nicknames from @hourly to @yearly. If both day fields
 * are restricted, matching either is enough.
 */
import { SluiceError } from "../error.ts";

export interface Cron {
  /** Sorted, each with at least one entry. */
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: ReadonlySet<number>;
  readonly lastDay: boolean;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>;
  readonly eitherDay: boolean;
  /**
   * True if it fires at intervals rather than at fixed times. Then it goes by real time when the clock is put
   * forward or back.
   */
  readonly interval: boolean;
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const SECOND: Field = { name: "second", min: 0, max: 59 };
const MINUTE: Field = { name: "minute", min: 0, max: 59 };
const HOUR: Field = { name: "hour", min: 0, max: 23 };
const DAY: Field = { name: "day of month", min: 1, max: 31 };
const MONTH: Field = { name: "month", min: 1, max: 12, names: MONTHS };
/** 7 is also Sunday. */
const WEEKDAY: Field = { name: "day of week", min: 0, max: 7, names: DAYS };

const FIELDS = [SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY];
/** Where the values of each field begin again. */
const NEXT = ["minute", "hour", "day", "month", "year", "week"];

const NICKNAMES: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** For an expression that somebody writes: a step that is too large to mean anything is refused, too. */
export function newCron(text: string): Cron {
  const cron = parseCron(text);
  for (const [index, part] of fieldsOf(text).entries())
    for (const step of part.matchAll(/\/(\d+)/g)) {
      const { name, min, max } = FIELDS[index] as Field;
      const size = FIELDS[index] === WEEKDAY ? 7 : max - min + 1;
      if (Number(step[1]) > size)
        throw badCron(
          text,
          `has a step of ${step[1]} in its ${name}, which has only ${size} values. A step starts again with each ${NEXT[index]}`,
        );
    }
  return cron;
}

/** Parses the expression, or throws BAD_CRON with the problem. */
export function parseCron(text: string): Cron {
  const [second, minute, hour, day, month, weekday] = fieldsOf(text);
  const refuse = (rule: string): SluiceError => badCron(text, rule);
  const read = (field: Field, part: string): number[] => readField(field, part, refuse);
  const dayParts = day.split(",").filter((part) => part.toUpperCase() !== "L");
  return {
    seconds: read(SECOND, second),
    minutes: read(MINUTE, minute),
    hours: read(HOUR, hour),
    days: new Set(dayParts.length === 0 ? [] : read(DAY, dayParts.join(","))),
    lastDay: dayParts.length < day.split(",").length,
    months: new Set(read(MONTH, month)),
    weekdays: new Set(read(WEEKDAY, weekday).map((value) => value % 7)),
    eitherDay: !day.startsWith("*") && !weekday.startsWith("*"),
    interval: [second, minute, hour].some((part) => part.startsWith("*")),
  };
}

type SixFields = [string, string, string, string, string, string];

function fieldsOf(text: string): SixFields {
  if (typeof text !== "string") throw badCron(text, "is not a string");
  const known = NICKNAMES[text.trim().toLowerCase()];
  if (known === undefined && text.trim().startsWith("@"))
    throw badCron(text, `is not a known nickname (known: ${Object.keys(NICKNAMES).join(", ")})`);
  const fields = (known ?? text).trim().split(/\s+/);
  if (fields.length === 5) return ["0", ...fields] as SixFields;
  if (fields.length === 6) return fields as SixFields;
  const count = text.trim() === "" ? "none" : fields.length;
  throw badCron(text, `must have 5 fields, or 6 with seconds in front, but has ${count}`);
}

type Refuse = (rule: string) => SluiceError;

function readField(field: Field, text: string, refuse: Refuse): number[] {
  const values = new Set(text.split(",").flatMap((part) => readPart(field, part, refuse)));
  return [...values].sort((a, b) => a - b);
}

/** `*`, `5` or `1-5`, each with or without a step like `/2`. */
function readPart(field: Field, part: string, refuse: Refuse): number[] {
  const [range = "", step, ...rest] = part.split("/");
  if (rest.length > 0 || (step !== undefined && !/^[1-9]\d*$/.test(step)))
    throw refuse(`has a step that is not a whole number of at least 1 in its ${field.name}, "${part}"`);
  const [from, to] = boundsOf(field, range, step !== undefined, refuse);
  if (from > to) throw refuse(`has a range that goes backwards in its ${field.name}, "${part}"`);
  const every = Number(step ?? 1);
  return Array.from({ length: Math.floor((to - from) / every) + 1 }, (_, index) => from + index * every);
}

function boundsOf(field: Field, range: string, stepped: boolean, refuse: Refuse): [number, number] {
  // Sunday has two numbers, so the range of all days ends at 6.
  const last = field === WEEKDAY ? 6 : field.max;
  if (range === "*") return [field.min, last];
  const [first = "", second, ...rest] = range.split("-");
  if (rest.length > 0) throw refuse(`has "${range}" in its ${field.name}, which is not a range`);
  const from = numberOf(field, first, refuse);
  if (second === undefined) return [from, stepped ? Math.max(from, last) : from];
  const to = numberOf(field, second, refuse);
  return [from, field === WEEKDAY && to === 0 && from > 0 ? 7 : to];
}

function numberOf({ name, min, max, names }: Field, text: string, refuse: Refuse): number {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + min;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw refuse(
    `has "${text}" in its ${name}, which must be ${min} to ${max}${names ? ` or ${names[0]} to ${names.at(-1)}` : ""}`,
  );
}

function badCron(text: unknown, what: string): SluiceError {
  const rule = `${typeof text === "string" ? `"${text}"` : String(text)} ${what}`;
  const cure = 'write it like "0 3 * * *" (each day at three) or "*/15 * * * *" (every quarter of an hour)';
  return new SluiceError("BAD_CRON", `cron expression ${rule}: ${cure}`, {
    details: { value: text, rule, cure },
  });
}
