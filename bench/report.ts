// The results of a run: kept in a file, printed as text or as Markdown.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Flags } from "./flags.ts";
import type { Row } from "./row.ts";
import type { Table } from "./table.ts";
import { asMarkdown, asText, text } from "./table.ts";
import { targets } from "./targets.ts";
import { verdictTable } from "./verdict.ts";

export interface Results {
  readonly at: string;
  readonly machine: readonly string[];
  readonly scale: number;
  readonly rounds: number;
  readonly rows: readonly Row[];
}

export function printed(results: Results, markdown: boolean): string {
  const table = markdown ? asMarkdown : asText;
  const { at, machine, scale, rounds, rows } = results;
  const size = scale === 1 ? "full size" : `${scale} of the full size`;
  const head = [
    `Measured ${at.slice(0, 16).replace("T", " ")} UTC, ${rounds === 1 ? "one round" : `${rounds} rounds`}, ${size}`,
    ...machine,
  ];
  const verdicts = verdictTable(targets, rows);
  return [
    head.map((line) => (markdown ? `- ${line}` : line)).join("\n"),
    table(rowsTable(rows)),
    ...(verdicts.lines.length > 0 ? [table(verdicts)] : []),
  ].join("\n\n");
}

function rowsTable(rows: readonly Row[]): Table {
  return {
    head: [
      "case",
      "system",
      "on",
      "durable",
      "slots",
      "tasks",
      "figure",
      "unit",
      "rounds",
      "Node µs",
      "server µs",
      "log B",
      "note",
    ],
    lines: rows.map((row) => [
      row.name,
      row.system ?? "",
      row.on ?? "",
      row.durable ?? "",
      row.slots,
      row.tasks,
      row.value,
      row.unit,
      spread(row.runs ?? []),
      row.cost?.nodeUs,
      row.cost?.serverUs,
      row.cost?.logBytes,
      row.note ?? "",
    ]),
  };
}

function spread(runs: readonly number[]): string {
  return runs.length < 2 ? "" : `${text(Math.min(...runs))} to ${text(Math.max(...runs))}`;
}

/** Parts of a run do not replace the results of a whole one. */
export function resultsFile({ only, quick }: Pick<Flags, "only" | "quick">): string {
  const name = only ? "some" : quick ? "quick" : "latest";
  return fileURLToPath(new URL(`results/${name}.json`, import.meta.url));
}

export async function keepResults(file: string, results: Results): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
}

export async function lastResults(file: string): Promise<Results> {
  return JSON.parse(await readFile(file, "utf8")) as Results;
}
