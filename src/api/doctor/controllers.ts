/** Finds engines that are gone but hold shared locks, and clocks that disagree with the sync database's. */
import { SluiceError } from "../../core/error.ts";
import { sayDuration } from "../../core/time.ts";
import type { ControllerRow } from "../../store/sync/port.ts";
import type { SharedAccess } from "../shared-access.ts";
import type { Check } from "./check.ts";
import { checkOf, eachOf, many, warning } from "./check.ts";
import { judgeClock } from "./clock.ts";

/** No checks without a sync database. */
export async function controllerChecks(
  shared: SharedAccess | undefined,
  wall: () => number,
): Promise<readonly Check[]> {
  if (!shared?.isKnown) return [];
  try {
    const controllers = await (await shared.sync()).controllers();
    const before = wall();
    const now = await (await shared.sync()).now();
    const clock = judgeClock({ before, theirs: now, after: wall() });
    return [controllersCheck(controllers, now), { ...clock, check: "sync clock" }];
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const cure = "Start it, or check its address. Work without shared locks goes on";
    return [checkOf("controllers", [warning(error.sentence, cure)], "")];
  }
}

function controllersCheck(controllers: readonly ControllerRow[], now: number): Check {
  const stuck = controllers.filter(({ live, held }) => !live && held > 0);
  const findings = stuck.map(({ name, held, heardAt }) =>
    warning(
      `controller "${name}" ${heardAt === 0 ? "was never heard" : `was last heard ${sayDuration(now - heardAt)} ago`} and still holds ${many(held, "shared lock")}`,
      "Start that engine again. If it never comes back, remove it: then its locks are free",
      { action: "removeController", controller: name },
    ),
  );
  return checkOf(
    "controllers",
    findings,
    eachOf(controllers.length, "controller", "none of them gone with a lock"),
  );
}
