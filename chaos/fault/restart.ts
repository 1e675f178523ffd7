/** Crashes the database in the middle of everything and starts it again. */
import type { Scene } from "./scene.ts";

/** The time until all processes have reconnected. */
const AFTER_MS = 1_500;

export async function restart({ place, crew, done }: Scene): Promise<boolean> {
  if (!place.crash) return true;
  const from = Date.now();
  await place.crash();
  crew.impair(0, "store away", from, Date.now() + AFTER_MS);
  done.add("immediate restarts");
  return true;
}
