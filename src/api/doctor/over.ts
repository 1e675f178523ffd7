/**
 * Gates above their limit. Lowering a limit never evicts, so being above it is no proof: it is broken only where a
 * grant was made after the limit came into force, and since when that is must be on record. A limit changed by plain
 * SQL leaves no date; there, one look can only say that the gate drains. A run that is executed directly goes past the
 * run cap and the limits of tags and counts there: those may be exceeded.
 */

import { draining } from "../../core/gate/gate.ts";
import { familyIn, kindOf } from "../../core/gate/key.ts";
import { gateTitle } from "../../core/gate/kind.ts";
import { isoTime } from "../../core/time.ts";
import type { InspectedGate, Inspection } from "../../store/store.ts";
import type { Check, Finding } from "./check.ts";
import { checkOf, eachOf, warning } from "./check.ts";

export function limitsCheck({ gates, broken: { malformedGates } }: Inspection): Check {
  const byKey = new Map(gates.map((gate) => [gate.key, gate]));
  const findings = gates
    .filter((gate) => draining(gate) && !malformedGates.ids.includes(gate.key))
    .map((gate) => judged(gate, inForceSince(gate, familyIn(byKey, gate.key))));
  return checkOf("limits", findings, eachOf(gates.length, "gate", "none above its limit"));
}

const PASSED_BY_DIRECT: ReadonlySet<string> = new Set(["runs", "tag"]);

function judged(gate: InspectedGate, since: number | null): Finding {
  const { key, held, limit, grantedAt } = gate;
  const use = `${gateTitle(key)}: ${held} of ${limit} held`;
  if (PASSED_BY_DIRECT.has(kindOf(key)))
    return warning(
      `${use}: runs were executed directly, or the limit was lowered while they ran`,
      "It drains as they end; no queued run is admitted until then",
      { action: "listRuns", state: "started" },
    );
  if (since !== null && grantedAt !== null && grantedAt > since) {
    const when =
      since === Number.NEGATIVE_INFINITY
        ? "has always been in force"
        : `came into force at ${isoTime(since)}`;
    return {
      verdict: "fail",
      text: `${use}, and the newest slot was granted at ${isoTime(grantedAt)}, though this limit ${when}`,
      ids: [key],
      cure: "Nothing new starts there until enough has ended. Keep a copy of the store, and report it",
    };
  }
  return warning(
    `${use}, draining: the limit was lowered while they ran`,
    "It drains as they end; it must not rise between two looks",
    { action: "listLimits" },
  );
}

/** From when on the limit in force was this one; minus infinity is "from the beginning", null is "not on record". */
export function inForceSince(gate: InspectedGate, family?: InspectedGate): number | null {
  const { limit, declared, setBy, setAt, changed } = gate;
  if (setBy !== null) return changed?.limit === limit ? changed.at : null;
  if (family && gate.perValue) {
    const since = inForceSince(family);
    return since === null ? null : Math.max(since, changed?.at ?? since);
  }
  if (limit !== declared) return null;
  return setAt ?? Number.NEGATIVE_INFINITY;
}
