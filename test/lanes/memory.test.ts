import { describe } from "vitest";
import { openMemory } from "../../src/store/memory/index.ts";
import { manyLanes } from "./lanes.ts";

describe("very many lanes in memory", () => {
  manyLanes(async () => openMemory(), { runs: 12, lanes: 120 });
});
