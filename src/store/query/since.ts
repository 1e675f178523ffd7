/**
 * Which signals a run can hear: those since the first run of its chain of reruns was submitted, except those that the
 * steps which it has kept have taken. A rerun from nothing begins a chain of its own.
 */
import { storedOptions } from "../../core/unit-options.ts";
import type { Flow } from "../flow.ts";
import { flight, send } from "../flow.ts";
import type { Row } from "../row.ts";
import { int, text, textOrNull } from "../row.ts";
import { waitSubject } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { oneOf, sql } from "../sql.ts";

export interface Audible {
  /** When the first run of the chain of the root was submitted. */
  readonly since: number;
  /** IDs of signals that were taken before. */
  readonly taken: readonly string[];
}

export function* hearingOf(runs: readonly string[]): Flow<ReadonlyMap<string, Audible>> {
  const known = yield* chains(runs);
  const earlier = runs.flatMap((run) => (chainOf(run, known).length > 1 ? [run] : []));
  const taken = earlier.length > 0 ? yield* takenBefore(earlier, known) : new Map<string, string[]>();
  return new Map(
    runs.map((run) => {
      const first = chainOf(known.get(run)?.root ?? run, known).at(-1);
      return [run, { since: first?.createdAt ?? 0, taken: taken.get(run) ?? [] }];
    }),
  );
}

interface Link {
  readonly id: string;
  readonly root: string | null;
  readonly rerunOf: string | null;
  readonly createdAt: number;
}

const link = (row: Row): Link => ({
  id: text(row.id),
  root: textOrNull(row.root),
  rerunOf: storedOptions(text(row.options)).fromNothing ? null : textOrNull(row.rerun_of),
  createdAt: int(row.created_at),
});

const selectLinks = (ids: readonly string[]): Sql<Link> =>
  sql`SELECT u.id, u.root, u.rerun_of, t.created_at, t.options FROM sluice_run u JOIN sluice_task t ON t.id = u.id WHERE u.id ${oneOf(ids)}`.as(
    link,
  );

/** The runs, their roots, and whatever each of these repeats. */
function* chains(runs: readonly string[]): Flow<ReadonlyMap<string, Link>> {
  const known = new Map<string, Link>();
  let wanted = [...new Set(runs)];
  while (wanted.length > 0) {
    const found = yield* send(selectLinks(wanted.sort()));
    for (const each of found) known.set(each.id, each);
    const next = found.flatMap(({ root, rerunOf }) => [root, rerunOf]).filter((id) => id !== null);
    wanted = [...new Set(next)].filter((id) => !known.has(id));
  }
  return known;
}

/** The run first, and then what it repeats. */
function chainOf(run: string, known: ReadonlyMap<string, Link>): Link[] {
  const chain: Link[] = [];
  for (let at = known.get(run); at; at = at.rerunOf === null ? undefined : known.get(at.rerunOf))
    chain.push(at);
  return chain;
}

/** By run: the signals that ended its kept steps in earlier runs. The histories of these steps tell them. */
function* takenBefore(
  runs: readonly string[],
  known: ReadonlyMap<string, Link>,
): Flow<ReadonlyMap<string, string[]>> {
  const { kept } = yield* flight({
    kept: sql`SELECT run, name FROM sluice_step WHERE run ${oneOf(runs)} AND state = 'succeeded'`.as(
      (row) => ({
        run: text(row.run),
        step: text(row.name),
      }),
    ),
  });
  const runOf = new Map<string, string>();
  for (const { run, step } of kept)
    for (const { id } of chainOf(run, known).slice(1)) runOf.set(waitSubject({ run: id, step }), run);
  const taken = new Map<string, string[]>();
  if (runOf.size === 0) return taken;
  const answers = yield* send(
    sql`SELECT subject, data FROM sluice_event WHERE subject ${oneOf([...runOf.keys()].sort())} AND n = 2`.as(
      (row) => ({
        subject: text(row.subject),
        data: textOrNull(row.data),
      }),
    ),
  );
  for (const { subject, data } of answers) {
    const { signal } = JSON.parse(data ?? "{}") as { readonly signal?: string };
    const run = runOf.get(subject) ?? "";
    if (signal !== undefined) taken.set(run, [...(taken.get(run) ?? []), signal]);
  }
  return taken;
}
