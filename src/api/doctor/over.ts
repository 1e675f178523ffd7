/**
 * Finds gates above their limit. That alone is no defect, because lowering a limit evicts no holder. It is a
 * defect if a slot was granted after the limit came into force, so that time must be on record. A limit
 * changed by plain SQL leaves no time; then the doctor can only say that the gate drains. Direct runs pass
 * the run cap, the parallelism of the engine and of namespaces, and the limits of tags, and count there, so these limits may be exceeded.
 */

import { draining } from "../../core/gate/gate.ts";
import { familyIn, kindOf } from "../../core/gate/key.ts";
import { gateTitle } from "../../core/gate/kind.ts";
import { MOST_SLOTS } from "../../core/number.ts";
import { isoTime } from "../../core/time.ts";
import type { InspectedGate, Inspection } from "../../store/store.ts";
import type { Check, Finding } from "./check.ts";
import { checkOf, eachOf, warning } from "./check.ts";

export function limitsCheck({ gates, broken: { malformedGates } }: Inspection): Check {
  const byKey = new Map(gates.map((gate) => [gate.key, gate]));
  const above = gates
    .filter((gate) => draining(gate) && !malformedGates.ids.includes(gate.key))
    .map((gate) => judged(gate, inForceSince(gate, familyIn(byKey, gate.key))));
  const beyond = gates.filter(({ limit }) => (limit ?? 0) > MOST_SLOTS).map(beyondAny);
  return checkOf("limits", [...above, ...beyond], eachOf(gates.length, "gate", "none above its limit"));
}

const PASSED_BY_DIRECT: ReadonlySet<string> = new Set(["runs", "engine", "namespace", "tag"]);

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

/** Only plain SQL can write such a limit. Sums of numbers this large are not exact. */
const beyondAny = ({ key }: InspectedGate): Finding => ({
  ...warning(
    `${gateTitle(key)}: its limit is more than ${MOST_SLOTS}, the most that can be set, so it limits nothing`,
    "Set the limit that is meant, or -1 for none",
    { action: "setLimit", gate: key },
  ),
  ids: [key],
});

/** The time since which this limit is in force. Minus infinity is "from the beginning", null is "not on record". */
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
