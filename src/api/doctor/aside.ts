/** Finds lanes that were set aside because no pass could process them. They wait until an operator restores them. */
import { isoTime } from "../../core/time.ts";
import type { Inspection } from "../../store/store.ts";
import type { Check } from "./check.ts";
import { checkOf, many, warning } from "./check.ts";

const MOST_TOLD = 10;

export function asideCheck({ aside }: Pick<Inspection, "aside">): Check {
  const findings = aside
    .slice(0, MOST_TOLD)
    .map(({ id, task, units, error, at }) =>
      warning(
        `lane ${id} of "${task}", with ${many(units, "unit")} waiting, was set aside at ${isoTime(at)}: ${error}`,
        "Fix what is wrong with it, or cancel its units; then put it back",
        { action: "restoreLane", lane: id },
      ),
    );
  return checkOf("set aside", findings, "nothing was set aside");
}
