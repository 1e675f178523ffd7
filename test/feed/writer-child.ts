// A process that does everything that moves units, as fast as it can, until it is stopped or killed.

import { setTimeout as sleep } from "node:timers/promises";
import { openStore } from "../../src/api/open-store.ts";
import { Writing } from "./writing.ts";

const [url = "", name = ""] = process.argv.slice(2);
let isOver = false;
process.once("message", () => {
  isOver = true;
});
try {
  const store = await openStore(url);
  const writing = await Writing.open(store, name);
  process.send?.({ ready: true });
  while (!isOver) {
    await writing.step();
    await sleep(2);
  }
  await store.close();
  process.send?.({ done: writing.done });
} catch (error) {
  process.send?.({ error: String((error as Error).stack) });
}
process.disconnect();
