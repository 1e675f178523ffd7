// Workers in processes of their own that know workflows, and the witness they report to.

import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { WorkerProcess } from "../../e2e/support/start-worker.ts";
import { prepareProcess } from "../../e2e/support/start-worker.ts";
import { Witness } from "../../support/witness.ts";
import type { RunWorkerOrder } from "./worker-process.ts";

const MAIN = fileURLToPath(new URL("./worker-process.ts", import.meta.url));

/** Ready to go. */
export function prepareWorkers(
  names: readonly string[],
  order: Omit<RunWorkerOrder, "name">,
): Promise<WorkerProcess[]> {
  return Promise.all(names.map((name) => prepareProcess({ ...order, name }, MAIN)));
}

export async function openWitness(): Promise<Witness> {
  const witness = await Witness.open();
  onTestFinished(() => witness.close());
  return witness;
}
