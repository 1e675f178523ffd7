/** Finds tasks and workflows that several apps declare. Sharing them may be intended, but nobody should learn it by accident. */
import type { AppNames } from "../../core/app/shared-names.ts";
import { sayShared, sharedAmong } from "../../core/app/shared-names.ts";
import type { Check } from "./check.ts";
import { checkOf, warning } from "./check.ts";

export function namesCheck(apps: readonly AppNames[]): Check {
  const findings = sharedAmong(apps).map((shared) =>
    warning(
      sayShared(shared),
      "If that is meant, leave it. If not, give it another name in one of the apps, and deploy that app",
    ),
  );
  return checkOf("names", findings, "no two apps declare a task or workflow of one name");
}
