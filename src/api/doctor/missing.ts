/**
 * Finds gates that an app declares but that have no limit in the store. Units that ask for such a gate wait,
 * and no worker reports it.
 */
import { gateTitle } from "../../core/gate/kind.ts";
import type { Inspection } from "../../store/store.ts";
import type { Check, Finding } from "./check.ts";
import { checkOf, warning } from "./check.ts";
import type { Waiting } from "./replaced.ts";
import { gatesAskedBy } from "./replaced.ts";

/** Such a gate was deleted by plain SQL. A unit that asks for it may have created it again, without a limit. */
export function missingCheck({ gates, broken }: Inspection, waiting: Waiting): Check {
  const asked = gatesAskedBy(waiting);
  const reborn = gates.filter(
    ({ limit, said }) => limit === null && said.some((each) => each.limit !== null),
  );
  const findings = [...broken.missingGates.ids, ...reborn.map(({ key }) => key)].map((gate): Finding => {
    const who = asked.has(gate) ? ", and units wait for it" : "";
    return {
      ...warning(
        `${gateTitle(gate)} is declared by an app, but its limit is not in the store${who}`,
        "Deploy the app that declares it, or start its worker again: this brings it back",
        { action: "deploy" },
      ),
      ids: [gate],
    };
  });
  return checkOf("declared", findings, "each limit that an app declares is in the store");
}
