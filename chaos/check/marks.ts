/**
 * C14, runs as the witness saw them: each step and item that was submitted was run by one unit, after the code
 * of the steps it needs had left, and never again once it had succeeded. What a run was told is known from its
 * submission, and what it did from the witness. The product only says which runs and units succeeded.
 */
import { NEEDS } from "../app/needs.ts";
import type { Effect, Finding, Ordered, Tables, Visit } from "../history.ts";

export interface MarksOf {
  readonly visits: readonly Visit[];
  readonly effects: readonly Effect[];
  readonly tables: Pick<Tables, "tasks" | "runs" | "outcomes">;
  readonly ordered: readonly Ordered[];
}

export function checkMarks(of: MarksOf): Finding {
  const seen = seenIn(of);
  const violations = [...seen].flatMap(([mark, stays]) => again(mark, stays));
  const told = new Map(of.ordered.map((order) => [order.key, order]));
  const keys = new Map(of.tables.tasks.map(({ id, key }) => [id, key]));
  const succeeded = new Set(
    of.tables.outcomes.flatMap(({ id, state }) => (state === "succeeded" ? [id] : [])),
  );
  let steps = 0;
  for (const { id, mark } of of.tables.runs) {
    if (!succeeded.has(id)) continue;
    const order = told.get(keys.get(id) ?? "");
    const marks = mark === null ? (order?.marks ?? []) : [mark];
    steps += marks.length;
    for (const each of marks)
      if (!seen.get(each)?.done) violations.push(`run ${id} succeeded, and nobody saw ${each} done`);
    if (order) violations.push(...outOfOrder(order, seen));
  }
  const known = new Set([
    ...of.ordered.flatMap(({ marks }) => marks),
    ...of.tables.runs.map(({ mark }) => mark),
  ]);
  for (const mark of seen.keys())
    if (!known.has(mark)) violations.push(`${mark} ran, and nobody submitted it`);
  return {
    check: "C14 runs from outside",
    figures: `${seen.size} steps and items seen, ${steps} of them in runs that succeeded`,
    violations,
  };
}

interface Seen {
  readonly stays: readonly Visit[];
  /** The stay whose result is the unit's outcome and whose effect was accepted. */
  readonly done: Visit | undefined;
}

function seenIn({ visits, effects, tables }: MarksOf): Map<string, Seen> {
  const accepted = new Set(
    effects.flatMap(({ accepted: ok, key, token }) => (ok ? [`${key} ${token}`] : [])),
  );
  const won = new Set(
    tables.outcomes.flatMap(({ id, state, epoch }) => (state === "succeeded" ? [`${id} ${epoch}`] : [])),
  );
  const isDone = ({ task, epoch }: Visit): boolean =>
    won.has(`${task} ${epoch}`) && accepted.has(`task:${task} ${epoch}`);
  const byMark = new Map<string, Visit[]>();
  for (const visit of visits)
    if (visit.mark !== null) byMark.set(visit.mark, [...(byMark.get(visit.mark) ?? []), visit]);
  return new Map([...byMark].map(([mark, stays]) => [mark, { stays, done: stays.find(isDone) }]));
}

/** A holder that was frozen may enter late, but it has an older epoch. */
function again(mark: string, { stays, done }: Seen): string[] {
  const units = [...new Set(stays.map(({ task }) => task))];
  const later = stays.filter(({ epoch, from }) => done && epoch > done.epoch && from >= done.to);
  return [
    ...(units.length > 1 ? [`${mark} was run by ${units.length} units: ${units.join(", ")}`] : []),
    ...later.map(({ epoch, task }) => `${mark} had succeeded, and ran again as ${task} (epoch ${epoch})`),
  ];
}

function outOfOrder({ key, workflow, marks }: Ordered, seen: ReadonlyMap<string, Seen>): string[] {
  const stepOf = (mark: string): string => mark.slice(key.length + 1).split("/")[0] ?? "";
  return marks.flatMap((mark) => {
    const needs = NEEDS[workflow]?.[stepOf(mark)] ?? [];
    const begun = Math.min(...(seen.get(mark)?.stays ?? []).map(({ from }) => from));
    return marks
      .filter((other) => needs.includes(stepOf(other)) && (seen.get(other)?.done?.to ?? 0) > begun)
      .map((other) => `${mark} began before ${other}, which it needs, had ended`);
  });
}
