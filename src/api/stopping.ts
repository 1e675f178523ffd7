/** Code that should have ended: its task has its outcome, or waits for its next attempt, and its slots follow the code. */
import { asksOf, isAsks } from "../store/lane.ts";
import type { StoppingRow, Store } from "../store/store.ts";
import { RUNS } from "../store/store.ts";

export interface StoppingView {
  /** A task whose code runs on, or a run, which has none and holds its own slots until its last step has stopped. */
  readonly kind: "task" | "run";
  readonly unit: string;
  readonly name: string;
  readonly run: string | null;
  readonly step: string | null;
  /** Of a step over a list: which of its items, from 0 on. */
  readonly item: number | null;
  /** The gates that it holds. */
  readonly asks: readonly { readonly gate: string; readonly slots: number }[];
  /** The name of its worker; null of a run, and where the worker is gone. */
  readonly worker: string | null;
  readonly since: number;
  readonly because: StoppingRow["because"];
}

/** All of it, or that of one task, or of one run and its steps. */
export async function stoppingNow(store: Store, id?: string): Promise<StoppingView[]> {
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
