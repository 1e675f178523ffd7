// A reporter for vitest: writes how many errors occurred outside of any test. vitest's JSON report leaves them out.

import { writeFileSync } from "node:fs";

export default class StrayErrors {
  onTestRunEnd(_modules, errors, reason) {
    const file = process.env.SLUICE_TEST_STRAY;
    if (file) writeFileSync(file, JSON.stringify({ errors: errors.length, reason }));
  }
}
