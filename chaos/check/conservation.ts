/**
 * C3: everything that `enqueue` acknowledged exists in exactly one state. A key that was used twice made one
 * task.
 */
import type { Acked, Finding, Tables } from "../history.ts";

export function checkConservation(acked: readonly Acked[], tables: Tables): Finding {
  const places = new Map<string, string[]>(tables.tasks.map(({ id }) => [id, []]));
  const violations: string[] = [];
  const put = (id: string, place: string): void => {
    const known = places.get(id);
    if (known) known.push(place);
    else violations.push(`${id} is ${place}, but there is no such task`);
  };
  for (const id of tables.waiting) put(id, "waiting");
  for (const id of tables.later) put(id, "later");
  for (const id of tables.running) put(id, "running");
  for (const { id, state } of tables.outcomes) put(id, state);

  for (const [id, found] of places)
    if (found.length !== 1)
      violations.push(`${id} is in ${found.length} states: ${found.join(", ") || "none"}`);

  const ids = new Set(acked.flatMap(({ ids: all }) => all));
  for (const id of ids) if (!places.has(id)) violations.push(`${id} was acknowledged and is nowhere`);

  const byKey = new Map<string, string>();
  for (const { ids: all, keys } of acked)
    all.forEach((id, index) => {
      const key = keys[index];
      if (!key) return;
      const first = byKey.get(key) ?? id;
      byKey.set(key, first);
      if (first !== id) violations.push(`the key ${key} gave two tasks: ${first} and ${id}`);
    });
  const ofRuns = new Set(tables.runs.filter(({ source }) => source !== "code").map(({ id }) => id));
  const unacked = tables.tasks.filter(
    ({ id, run }) => !ids.has(id) && run === null && !ofRuns.has(id),
  ).length;
  return {
    check: "C3 conservation",
    figures: `${ids.size} acknowledged, all found; ${unacked} more whose answer was lost`,
    violations,
  };
}
