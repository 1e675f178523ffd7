/**
 * Code that was told to stop. Its task already has an outcome or waits for its next attempt, but its slots
 * follow the code.
 */
import { checkId } from "../core/text.ts";
import { asksOf, isAsks } from "../store/lane.ts";
import type { StoppingRow, Store } from "../store/store.ts";
import { RUNS } from "../store/store.ts";

export interface StoppingView {
  /** A task whose code still runs, or a run. A run has no code; it holds slots until its last step has stopped. */
  readonly kind: "task" | "run";
  readonly unit: string;
  readonly name: string;
  readonly run: string | null;
  readonly step: string | null;
  /** For a step over a list: the index of the item. */
  readonly item: number | null;
  /** The gates that it holds. */
  readonly asks: readonly { readonly gate: string; readonly slots: number }[];
  /** The name of its worker. Null for a run, and if the worker is gone. */
  readonly worker: string | null;
  readonly since: number;
  readonly because: StoppingRow["because"];
}

/** Everything that is stopping, or one task, or one run with its steps. */
export async function stoppingNow(store: Store, id?: string): Promise<StoppingView[]> {
  if (id !== undefined) checkId(id);
  const rows = await store.stopping();
  return rows.filter((row) => id === undefined || row.id === id || row.run === id).map(stoppingView);
}

const stoppingView = (row: StoppingRow): StoppingView => ({
  kind: row.session === RUNS ? "run" : "task",
  unit: row.id,
  name: row.name,
  run: row.run,
  step: row.step,
  item: row.item,
  asks: isAsks(row.asks) ? asksOf(row.asks) : [],
  worker: row.session === RUNS ? null : row.worker,
  since: row.since,
  because: row.because,
});
