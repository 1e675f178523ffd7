/** Plain aligned tables: two spaces between columns, no lines. */
import { colours, cutTo, padTo, safe, widthOf } from "./text.ts";

export type Style = (text: string) => string;

export interface Cell {
  readonly text: string;
  readonly style?: Style | undefined;
}

export type TableRow = readonly (string | Cell)[];

const GAP = "  ";

export function table(titles: readonly string[], rows: readonly TableRow[]): string {
  const head = titles.map((title): Cell => ({ text: title.toUpperCase(), style: colours.dim }));
  const cells = [head, ...rows.map((row) => row.map(asCell))];
  const widths = titles.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column]?.text ?? ""))));
  return cells.map((row) => `${lineOf(row, widths)}\n`).join("");
}

/** Names with their values, one per line. */
export function fields(
  pairs: readonly (readonly [name: string, value: string | Cell] | undefined)[],
): string {
  const present = pairs.filter((pair) => pair !== undefined);
  const width = Math.max(...present.map(([name]) => widthOf(name)));
  return present
    .map(([name, value]) => `${colours.dim(padTo(name, width))}${GAP}${styled(asCell(value))}\n`)
    .join("");
}

function asCell(cell: string | Cell): Cell {
  return typeof cell === "string" ? { text: safe(cell) } : { ...cell, text: safe(cell.text) };
}

function lineOf(row: readonly Cell[], widths: readonly number[]): string {
  const last = row.length - 1;
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  const line = row.map((cell, column) => {
    if (column < last) return styled(cell, padTo(cell.text, widths[column] ?? 0));
    return styled(cell, fitted(cell.text, before));
  });
  return line.join(GAP).trimEnd();
}

/** On a terminal the last column is cut, so that a row stays on one line. */
function fitted(text: string, before: number): string {
  const columns = process.stdout.isTTY ? process.stdout.columns : 0;
  return columns > 0 ? cutTo(text, Math.max(10, columns - before)) : text;
}

function styled({ text, style }: Cell, padded: string = text): string {
  return style ? style(padded) : padded;
}
