export type Cell = string | number | null | undefined;

export interface Table {
  readonly head: readonly string[];
  readonly lines: readonly (readonly Cell[])[];
}

/** As aligned text, for a terminal. */
export function asText({ head, lines }: Table): string {
  const cells = [head, ...lines].map((line) => line.map(text));
  const widths = head.map((_, column) => Math.max(...cells.map((line) => (line[column] ?? "").length)));
  const numeric = numericColumns({ head, lines });
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

/** As a table in Markdown, for docs/performance.md. */
export function asMarkdown({ head, lines }: Table): string {
  const numeric = numericColumns({ head, lines });
  const render = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = `|${numeric.map((is) => (is ? "---:" : "---")).join("|")}|`;
  const rest = lines.map((line) => render(line.map((cell) => text(cell).replaceAll("|", "\\|"))));
  return [render(head), rule, ...rest].join("\n");
}

function numericColumns({ head, lines }: Table): boolean[] {
  return head.map((_, column) => lines.every((line) => typeof line[column] !== "string"));
}

export function text(cell: Cell): string {
  if (cell === null || cell === undefined) return "-";
  if (typeof cell === "string") return cell;
  if (Number.isInteger(cell) || Math.abs(cell) >= 100) return Math.round(cell).toLocaleString("en-US");
  return cell.toFixed(Math.abs(cell) < 10 ? 2 : 1);
}
