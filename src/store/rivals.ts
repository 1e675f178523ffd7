import type { RivalRow } from "./store.ts";

const keyOf = ({ queue, task, asks }: RivalRow): string => JSON.stringify([queue, task, asks]);

/** Each of them once, in one order. */
export const distinctRivals = (rivals: readonly RivalRow[]): RivalRow[] => {
  const distinct = new Map(rivals.map((row) => [keyOf(row), row]));
  return [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
};
