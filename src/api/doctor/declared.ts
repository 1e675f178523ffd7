/**
 * Finds apps that declare different limits or ranks for one gate. The strictest limit and the lowest rank
 * apply, which one of the apps may not expect.
 */

import { UNLIMITED } from "../../core/gate/gate.ts";
import { gateTitle } from "../../core/gate/kind.ts";
import type { InspectedGate, Inspection } from "../../store/store.ts";
import type { Check, Finding } from "./check.ts";
import { checkOf, many, warning } from "./check.ts";

export function appsCheck({ gates }: Inspection): Check {
  const apps = new Set(gates.flatMap(({ said }) => said.map(({ app }) => app)));
  const findings = gates.flatMap((gate) => [...limitsApart(gate), ...ranksApart(gate)]);
  return checkOf(
    "apps",
    findings,
    apps.size > 1 ? `${many(apps.size, "app")}, none in conflict` : many(apps.size, "app"),
  );
}

const sayLimit = (limit: number): string => (limit === UNLIMITED ? "no limit" : String(limit));
const sayApp = (app: string): string => (app === "" ? "an app of an earlier version" : `app "${app}"`);

/** Says which limit is in force if apps disagree. It may be that of an operator, of plain SQL or of the family. */
function inForce({ declared, limit, setBy, perValue }: InspectedGate): string {
  const strictest = declared === null ? "" : `, ${sayLimit(declared)}`;
  if (limit === declared || limit === null) return `the strictest is in force${strictest}`;
  const whose = perValue
    ? "the limit for each value"
    : setBy === null
      ? "set by plain SQL"
      : `set by ${setBy}`;
  return `${sayLimit(limit)} is in force, ${whose}, not the strictest of these${strictest}`;
}

function limitsApart(gate: InspectedGate): Finding[] {
  const { key, said } = gate;
  const limits = said.flatMap(({ app, limit }) => (limit === null ? [] : [{ app, limit }]));
  if (new Set(limits.map(({ limit }) => limit)).size < 2) return [];
  const each = limits.map(({ app, limit }) => `${sayApp(app)} declares ${sayLimit(limit)}`).join(", ");
  return [
    warning(
      `${gateTitle(key)}: ${each}; ${inForce(gate)}`,
      "Declare it in one app, or the same in all; two apps that mean different things need two names",
      { action: "listLimits" },
    ),
  ];
}

function ranksApart({ key, said }: InspectedGate): Finding[] {
  const ranks = said.flatMap(({ app, rank }) => (rank === null ? [] : [{ app, rank }]));
  if (new Set(ranks.map(({ rank }) => rank)).size < 2) return [];
  const each = ranks.map(({ app, rank }) => `${sayApp(app)} gives it rank ${rank}`).join(", ");
  return [
    warning(
      `${gateTitle(key)}: ${each}; the lowest applies, ${Math.min(...ranks.map(({ rank }) => rank))}`,
      "Give it a rank in one app, or the same rank in all",
      { action: "listQueues" },
    ),
  ];
}
