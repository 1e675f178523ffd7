import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

export type Cell = string | number | null | undefined;

/** One printed line. `value` is null if nothing was measured. Then `note` says why. */
export interface Row {
  name: string;
  version?: string;
  slots?: number;
  tasks?: number;
  value: number | null;
  unit: string;
  /** Every single run behind `value`, which is their median. */
  runs?: number[];
  note?: string;
}

export function table(head: readonly string[], lines: readonly (readonly Cell[])[]): string {
  const cells = [head, ...lines].map((line) => line.map(text));
  const widths = head.map((_, column) => Math.max(...cells.map((line) => (line[column] ?? "").length)));
  const numeric = head.map((_, column) => lines.every((line) => typeof line[column] !== "string"));
  const render = (line: string[]) =>
    line
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return numeric[column] ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  const [first = [], ...rest] = cells;
  return [render(first), widths.map((width) => "-".repeat(width)).join("  "), ...rest.map(render)].join("\n");
}

export function rowsTable(rows: readonly Row[]): string {
  return table(
    ["case", "version", "slots", "tasks", "figure", "unit", "runs", "note"],
    rows.map((row) => [
      row.name,
      row.version ?? "",
      row.slots,
      row.tasks,
      row.value,
      row.unit,
      (row.runs ?? []).map(text).join(" "),
      row.note ?? "",
    ]),
  );
}

export async function writeJson(path: string, content: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(content, null, 2)}\n`);
}

function text(cell: Cell): string {
  if (cell === null || cell === undefined) return "-";
  if (typeof cell === "string") return cell;
  return Math.abs(cell) < 100 && !Number.isInteger(cell) ? cell.toFixed(2) : Math.round(cell).toString();
}
