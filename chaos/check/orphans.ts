/** A worker that dies takes its children with it within seconds, even those it had only just started. */
import type { Impairment, Orphan } from "../history.ts";
import { noiseIn } from "./impaired.ts";

const WITHIN_MS = 5_000;

export function lateOrphans(orphans: readonly Orphan[], impairments: readonly Impairment[]): string[] {
  return orphans.flatMap(({ pid, from, to }) => {
    const took = to - from - noiseIn(impairments, { from, to });
    return took > WITHIN_MS ? [`child ${pid} outlived its worker by ${Math.round(took)}ms`] : [];
  });
}
