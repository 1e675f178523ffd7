/** Why a unit does not have the locks that it shares with other engines, as reasons like all others. */
import type { Holder, Reason } from "../gate/reason.ts";
import type { SharedRow, SharedView } from "./line.ts";
import { decideShared, sharedId } from "./line.ts";

interface Unit {
  readonly key: string;
  readonly controller: string;
}

/** Undefined if the unit does not stand in the shared lines. None if it may take its locks at the next look. */
export function sharedReasons(view: SharedView, unit: Unit): readonly Reason[] | undefined {
  const id = sharedId(unit);
  const own = view.rows.filter((row) => sharedId(row) === id && !row.held);
  if (own.length === 0) return undefined;
  const reasons = decideShared(view).waiting.get(id) ?? [];
  return reasons.map((reason) =>
    reason.kind === "full" ? { ...reason, holders: holdersOf(view, reason.gate) } : reason,
  );
}

/** A holder is named by its controller: only that engine knows more of it. */
const holdersOf = ({ rows }: SharedView, lock: string): Holder[] =>
  rows.filter((row) => row.held && row.name === lock).map(holderOf);

const holderOf = ({ key, controller, slots, at, live }: SharedRow): Holder => ({
  unit: key,
  name: `of controller ${controller}${live ? "" : " (inactive)"}`,
  slots,
  session: controller,
  since: at,
});
