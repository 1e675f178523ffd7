import { onTestFinished } from "vitest";
import { Witness } from "./witness.ts";

/** Opens a witness for one test. */
export async function openWitness(): Promise<Witness> {
  const witness = await Witness.open();
  onTestFinished(() => witness.close());
  return witness;
}
