// On the store in memory, which is quick and plays a disk here; on those people use: test/triggers.

import { restartCases } from "../../../test/triggers/restarts.ts";
import { openMemory } from "../../store/memory/index.ts";

restartCases(async ({ now }) => {
  const store = openMemory({ now });
  return async () => store;
});
