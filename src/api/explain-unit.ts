/** Explains why one unit waits, with the sync database's part of it. */
import { waitsIn } from "../engine/claiming/wait.ts";
import type { Store } from "../store/store.ts";
import type { Explanation } from "./explain.ts";
import { explainWait, isUnset, timesInLine, told } from "./explain.ts";
import type { SharedAccess } from "./shared-access.ts";
import { unknownTask } from "./unknown.ts";

export async function explainUnit(store: Store, shared: SharedAccess, id: string): Promise<Explanation> {
  const view = await store.wait(id);
  if (!view) throw unknownTask(id);
  const { task, now } = view;
  const stays = timesInLine(task, await store.events(id));
  const waits = waitsIn(await store.events(task.lane), stays, now);
  const found = explainWait(view);
  const explanation = isUnset(found) ? explainWait(view, await store.replaced()) : found;
  const reasons = await shared.explain(task, explanation.reasons);
  return { ...explanation, ...(reasons === explanation.reasons ? {} : told(reasons, now)), waits };
}
