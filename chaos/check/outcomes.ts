/**
 * C5: each task has one accepted outcome, written by the holder of the claim it names, whose effect was
 * accepted. It has no more attempts than its policy allows.
 */
import type { Audited, Effect, Finding, OutcomeRow, Tables } from "../history.ts";
import type { Lives } from "./lives.ts";
import { wasReturned } from "./lives.ts";

export function checkOutcomes(
  audit: readonly Audited[],
  tables: Tables,
  lives: Lives,
  effects: readonly Effect[],
): Finding {
  const violations: string[] = [];
  const written = new Map<string, number>();
  for (const event of audit) {
    if (event.kind === "outcome") written.set(event.task, (written.get(event.task) ?? 0) + 1);
    else if (event.kind === "outcomeGone") violations.push(`the outcome of ${event.task} was taken back`);
  }
  for (const [task, times] of written) if (times !== 1) violations.push(`${task} got ${times} outcomes`);

  const done = new Set(effects.filter(({ accepted }) => accepted).map(({ key, token }) => `${key} ${token}`));
  const tasks = new Map(tables.tasks.map((task) => [task.id, task]));
  const states = new Map<string, number>();
  for (const outcome of tables.outcomes) {
    states.set(outcome.state, (states.get(outcome.state) ?? 0) + 1);
    violations.push(...ownComplaints(outcome, lives, done));
    const most = tasks.get(outcome.id)?.attempts ?? 0;
    const begun = (lives.ofTask.get(outcome.id) ?? []).filter((life) => !wasReturned(life)).length;
    if (outcome.attempt > most) violations.push(`${outcome.id} says ${outcome.attempt} attempts of ${most}`);
    if (begun > most) violations.push(`${outcome.id} was begun ${begun} times, its policy allows ${most}`);
  }
  const figures = [...states].map(([state, count]) => `${count} ${state}`).join(", ");
  return { check: "C5 one outcome", figures: figures || "none", violations };
}

function ownComplaints(
  { id, state, epoch, body }: OutcomeRow,
  lives: Lives,
  done: ReadonlySet<string>,
): string[] {
  if (state !== "succeeded") return [];
  const last = lives.ofTask.get(id)?.at(-1);
  const said = fenceIn(body);
  if (epoch !== last?.epoch)
    return [`the outcome of ${id} names epoch ${epoch}, its last claim was ${last?.epoch}`];
  if (said !== epoch)
    return [`the outcome of ${id} names epoch ${epoch}, but its result was made under ${said}`];
  if (!done.has(`task:${id} ${epoch}`))
    return [`${id} succeeded under epoch ${epoch}, whose effect was not accepted`];
  return [];
}

function fenceIn(body: string | null): number | undefined {
  try {
    return (JSON.parse(body ?? "null") as { fence?: number } | null)?.fence;
  } catch {
    return undefined;
  }
}
