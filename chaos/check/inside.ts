/** How much code was inside together at each gate, by the witness, and how that compares with the limit. */
import type { Visit } from "../history.ts";
import type { Sweep } from "./grants.ts";
import type { Lives } from "./lives.ts";

export interface InsideOf {
  readonly visits: readonly Visit[];
  readonly lives: Lives;
  readonly sweep: Pick<Sweep, "limitsAt">;
}

interface Inside {
  /** When the claim of each stay stopped covering it. Undefined if there never was a claim. */
  readonly ends: ReadonlyMap<Visit, number | undefined>;
  /** How often a limit was exceeded together with stays that had outlived their claim. */
  readonly beyond: number;
  /** Each time that stays with a claim exceeded a limit by themselves. */
  readonly without: readonly string[];
  /** The stays with a claim, each time that they filled a gate exactly. */
  readonly full: readonly { readonly gate: string; readonly by: readonly Visit[] }[];
}

/** The witness counts in whole milliseconds. */
const CLOCK_MS = 2;

export function insideOf({ visits, lives, sweep }: InsideOf): Inside {
  const ends = new Map(visits.map((visit) => [visit, recordEnd(visit, lives)]));
  const without: string[] = [];
  const full: { gate: string; by: readonly Visit[] }[] = [];
  let beyond = 0;
  const inside = new Set<Visit>();
  for (const visit of [...visits].sort((a, b) => a.from - b.from)) {
    for (const other of inside) if (other.to <= visit.from) inside.delete(other);
    inside.add(visit);
    for (const gate of Object.keys(visit.gates)) {
      const here = [...inside].filter((each) => gate in each.gates);
      const living = here.filter((each) => (ends.get(each) ?? 0) > visit.from + CLOCK_MS);
      const limit = limitOfNewest(living, gate, sweep);
      if (limit === undefined) continue;
      const held = sum(living, gate);
      if (held > limit)
        without.push(`${gate}: ${held}/${limit} inside at ${visit.from}, all with a claim (${visit.task})`);
      else if (sum(here, gate) > limit) beyond += 1;
      if (held === limit) full.push({ gate, by: living });
    }
  }
  return { ends, beyond, without, full };
}

/** When the claim stopped covering this stay: it was gone, or its expired lease had let others in. */
function recordEnd({ epoch }: Visit, { byEpoch, sessions }: Lives): number | undefined {
  const life = byEpoch.get(epoch);
  if (!life) return undefined;
  const lease = life.ended === undefined ? (sessions.get(life.session)?.expires ?? 0) : life.expires;
  if (life.heldUntil !== undefined) return Math.min(life.heldUntil, sessions.get(life.session)?.expires ?? 0);
  return Math.min(life.ended ?? Number.POSITIVE_INFINITY, lease);
}

/** Nothing was granted there after the newest grant, so its limit still bounds them all. */
function limitOfNewest(
  visits: readonly Visit[],
  gate: string,
  { limitsAt }: InsideOf["sweep"],
): number | undefined {
  const newest = Math.max(...visits.map(({ epoch }) => epoch));
  return limitsAt.get(newest)?.[gate];
}

const sum = (visits: readonly Visit[], gate: string): number =>
  visits.reduce((total, { gates }) => total + (gates[gate] ?? 0), 0);
