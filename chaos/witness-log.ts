/** Reads the witness's log as stays and effects. */
import { readFileSync } from "node:fs";
import type { Effect, Visit } from "./history.ts";

interface Line {
  readonly at: number;
  readonly kind: "enter" | "left" | "gone" | "effect";
  readonly stay: number;
  readonly id: string;
  readonly name: string;
  readonly fence: number;
  readonly mark: string | null;
  readonly gates: Record<string, number>;
  readonly pid: number;
  readonly parent: number;
  readonly key: string;
  readonly token: number;
  readonly accepted: boolean;
}

export function readWitness(file: string): { visits: Visit[]; effects: Effect[] } {
  // The text after the last newline is still being written.
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  const open = new Map<number, Visit>();
  const visits: Visit[] = [];
  const effects: Effect[] = [];
  for (const text of lines) {
    const line = JSON.parse(text) as Line;
    if (line.kind === "effect")
      effects.push({ at: line.at, key: line.key, token: line.token, accepted: line.accepted });
    else if (line.kind === "enter")
      open.set(line.stay, {
        task: line.id,
        name: line.name,
        epoch: line.fence,
        pid: line.pid,
        parent: line.parent,
        mark: line.mark,
        gates: line.gates,
        from: line.at,
        to: Number.POSITIVE_INFINITY,
        left: false,
      });
    else {
      const visit = open.get(line.stay);
      open.delete(line.stay);
      if (visit) visits.push({ ...visit, to: line.at, left: line.kind === "left" });
    }
  }
  return { visits: [...visits, ...open.values()], effects };
}
