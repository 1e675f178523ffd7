import { describe } from "vitest";
import { openMemory } from "../../src/store/memory/index.ts";
import { manyLanes } from "./lanes.ts";

describe("very many lanes in memory", () => {
  // Time stands still: a unit that has been overtaken for a minute keeps slots from then on, and on a slow machine that
  // moment came between the last pass and the check.
  manyLanes(async () => openMemory({ now: () => 1e12 }), { runs: 12, lanes: 120 });
});
