/** Finds declarations that a later deploy of the same app has replaced, but that units or workers still rely on. */
import { leftOut } from "../../core/gate/describe.ts";
import { familyOf, queueKey } from "../../core/gate/key.ts";
import { gateTitle } from "../../core/gate/kind.ts";
import { asksOf, isAsks } from "../../store/lane.ts";
import type { Inspection, Replaced, Store } from "../../store/store.ts";
import { readable } from "../readable.ts";
import type { Check, Finding } from "./check.ts";
import { checkOf, warning } from "./check.ts";

export type Waiting = Awaited<ReturnType<Store["waiting"]>>;

/** The gates that waiting units ask for. A gate of one value counts as its family. */
export const gatesAskedBy = (waiting: Waiting): ReadonlySet<string> =>
  new Set(
    waiting.flatMap(({ asks }) =>
      isAsks(asks) ? asksOf(asks).map(({ gate }) => familyOf(gate) ?? gate) : [],
    ),
  );

/** If two apps share a name, each deploy of one leaves out the limits that the other declares. */
export function replacedCheck(seen: Inspection, replaced: readonly Replaced[], waiting: Waiting): Check {
  const asked = gatesAskedBy(waiting);
  const unset = new Set(seen.gates.flatMap(({ key, limit }) => (limit === null ? [key] : [])));
  const served = new Set(seen.sessions.flatMap(({ serves }) => queuesIn(serves).map(queueKey)));
  const findings = replaced.flatMap((each): Finding[] => {
    const { gate } = each;
    const why =
      asked.has(gate) && unset.has(gate)
        ? "no longer has a limit, and units wait for it"
        : served.has(gate)
          ? "is served by a live worker, but no app declares it now"
          : undefined;
    return why === undefined
      ? []
      : [
          {
            ...warning(
              `${gateTitle(gate)} ${why}: ${leftOut(each)}`,
              `If two apps share the name "${each.app}", give each its own name, defineApp({ name }), and deploy both; if not, deploy the version whose limits should apply`,
              { action: "deploy" },
            ),
            ids: [gate],
          },
        ];
  });
  return checkOf("deploys", findings, "nothing in use was left out by a later deploy");
}

function queuesIn(serves: string): readonly string[] {
  const { queues = [] } = readable(serves) as { readonly queues?: readonly string[] };
  return queues;
}
