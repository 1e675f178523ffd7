// On the memory store, which is fast and stands for a disk here. test/triggers has the same for the real
// stores.

import { restartCases } from "../../../test/triggers/restarts.ts";
import { openMemory } from "../../store/memory/index.ts";

restartCases(async ({ now }) => {
  const store = openMemory({ now });
  return async () => store;
});
