// A program that starts a worker and does nothing else. Its only task ends the worker.

import { connect, defineApp, task } from "../../../src/index.ts";
import { openMemory } from "../../../src/store/memory/index.ts";

const [where = "", how = ""] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

// Node says so only if nothing keeps the process alive.
process.once("beforeExit", () => say("nothing left to do"));

const ring = task({
  id: "ring",
  run: () => {
    say("rang");
    setImmediate(() => void (how === "close" ? sluice.close() : worker.stop()).then(() => say("stopped")));
  },
});
const app = defineApp({ tasks: [ring] });
const store = where === "memory" ? openMemory() : where;
const sluice = await connect({ store, app, migrate: true });
await sluice.enqueue(ring, undefined, { delay: "700ms" });
const worker = await sluice.worker({ slots: 6 });
say("working");
