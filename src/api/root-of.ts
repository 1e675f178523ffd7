/** The run at the top of the tree that a task or a run is in. Undefined for a task of its own. */
import { storedOptions } from "../core/unit-options.ts";
import type { Store, TaskRow } from "../store/store.ts";

export async function rootOf(store: Store, { id, options }: TaskRow): Promise<string | undefined> {
  const run = storedOptions(options).step?.run ?? id;
  const [row] = await store.runs({ ids: [run], limit: 1 });
  return row && (row.root ?? row.id);
}
