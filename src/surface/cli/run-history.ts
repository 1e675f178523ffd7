/** The history of a run, or of items of one of its lists, as a table. */
import type { RunEvent } from "../../api/run-events.ts";
import { isoTime } from "../../core/time.ts";
import type { StoredError } from "../../executor/executor.ts";
import { sayError } from "./run-ending.ts";
import { table } from "./table.ts";

export function historyOf(events: readonly RunEvent[]): string {
  const [first] = events;
  return table(
    ["time", "after", "event", "step", "data"],
    events.map(({ at, kind, step, item, data }) => [
      isoTime(at),
      `+${((at - (first?.at ?? at)) / 1000).toFixed(3)}s`,
      kind,
      item === undefined ? (step ?? "-") : `${step}[${item}]`,
      sayData(data),
    ]),
  );
}

function sayData(data: RunEvent["data"]): string {
  if (isError(data)) return sayError(data);
  if (typeof data.reason === "string") return data.reason;
  const { from, to, ...rest } = data;
  return Object.entries(from === to ? rest : data)
    .map(([name, value]) => `${name} ${isError(value) ? sayError(value) : plain(value)}`)
    .join(", ");
}

const isError = (value: unknown): value is StoredError =>
  typeof (value as StoredError | null)?.message === "string";

const plain = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
