/** Which signals a run can hear. */
import { storedOptions } from "../../core/unit-options.ts";
import { waitSubject } from "../runs.ts";
import type { Tables } from "./tables.ts";
import { eventKey } from "./tables.ts";

/** Since when, and which signals its kept steps have taken in earlier runs. */
export function hearingOf(tables: Tables, run: string): { readonly since: number; readonly taken: string[] } {
  const first = chainOf(tables, tables.run.get(run)?.root ?? run).at(-1);
  const [, ...earlier] = chainOf(tables, run);
  const kept = tables.step.of(run).filter(({ state }) => state === "succeeded");
  const subjects = earlier.flatMap((id) => kept.map(({ name }) => waitSubject({ run: id, step: name })));
  const taken = subjects.flatMap((subject) => {
    const { signal } = JSON.parse(tables.event.get(eventKey(subject, 2))?.data ?? "{}") as {
      signal?: string;
    };
    return signal ?? [];
  });
  return { since: tables.task.get(first ?? run)?.createdAt ?? 0, taken };
}

/** The run first, and then what it repeats. A rerun from nothing repeats nothing. */
function chainOf(tables: Tables, run: string): string[] {
  const { fromNothing } = storedOptions(tables.task.get(run)?.options ?? "");
  const earlier = fromNothing ? null : tables.run.get(run)?.rerunOf;
  return earlier == null ? [run] : [run, ...chainOf(tables, earlier)];
}
