/** The table and the summary printed at the end. */
import type { Listed } from "./list.ts";
import type { Verdict } from "./verdict.ts";

export interface Judged {
  readonly defect: Pick<Listed, "id" | "area" | "file" | "means" | "noticedBy">;
  readonly verdict: Verdict;
  readonly ms: number;
}

const WORDS = { noticed: "noticed", escaped: "ESCAPED", skipped: "skipped", broken: "BROKEN" } as const;

export const isFine = ({ verdict }: Judged): boolean =>
  verdict.kind === "noticed" || verdict.kind === "skipped";

export function line({ defect, verdict, ms }: Judged): string[] {
  const { id, area, file, means, noticedBy } = defect;
  const words = [WORDS[verdict.kind], `${Math.round(ms / 1000)} s`, area, id, by(noticedBy, verdict)];
  if (verdict.kind !== "escaped") return words;
  return [...words.slice(0, -1), `${words.at(-1)}; planted in ${file}: ${means}`];
}

function by({ file, test }: Listed["noticedBy"], verdict: Verdict): string {
  switch (verdict.kind) {
    case "noticed":
      return `${file} > ${verdict.by}: ${short(verdict.how)}`;
    case "escaped":
      return `nobody noticed: ${file}${test === undefined ? "" : ` > ${test}`}`;
    case "skipped":
      return `${file} needs a server that is not here`;
    case "broken":
      return verdict.why;
  }
}

const short = (text: string): string => (text.length > 100 ? `${text.slice(0, 99)}…` : text);

/** Aligns the columns. The last one is not padded. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    row.slice(0, -1).forEach((word, index) => {
      widths[index] = Math.max(widths[index] ?? 0, word.length);
    });
  return rows.map((row) => row.map((word, index) => word.padEnd(widths[index] ?? 0)).join("  ")).join("\n");
}

export function summary(all: readonly Judged[]): string {
  const count = (kind: Verdict["kind"]): number => all.filter(({ verdict }) => verdict.kind === kind).length;
  const rest = (["escaped", "broken", "skipped"] as const)
    .filter((kind) => count(kind) > 0)
    .map((kind) => `, ${count(kind)} ${kind}`);
  return `${all.length} defects: ${count("noticed")} noticed${rest.join("")}`;
}
