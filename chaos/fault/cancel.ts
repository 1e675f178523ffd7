/** Cancels a random task, step or run that is running, whether its code listens or not. */
import { command } from "../crew/product.ts";
import type { Random } from "../random.ts";
import type { Scene } from "./scene.ts";

export async function cancel({ place, product, done, cancelled }: Scene, random: Random): Promise<boolean> {
  try {
    // Not poison: its outcome is to be checked.
    const rows = await place.sql(
      "SELECT r.id FROM sluice_running r JOIN sluice_task t ON t.id = r.id WHERE t.name <> 'poison'",
    );
    if (rows.length === 0) return false;
    const id = String(random.pick(rows).id);
    const isRun = (await place.sql(`SELECT id FROM sluice_run WHERE id = '${id}'`)).length > 0;
    const [step] = await place.sql(`SELECT run FROM sluice_task WHERE id = '${id}'`);
    // A cancelled step fails its run, so both are our doing.
    for (const each of [id, step?.run]) if (each) cancelled.add(String(each));
    await command(product, [isRun ? "runs" : "tasks", "cancel", id, "--store", place.url, "--by", "chaos"]);
    done.add(isRun ? "runs cancelled" : "tasks cancelled");
    return true;
  } catch {
    // The store may be away, or the unit may have ended meanwhile.
    return false;
  }
}
