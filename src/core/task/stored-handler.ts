import type { StoredAsk } from "../gate/asks.ts";

/**
 * The task that handles a failure, as the failing unit carries it in its options. So it can be put in line
 * by any worker, also by one that recovers the unit and does not know its app.
 */
export interface StoredHandler {
  readonly task: string;
  readonly queue: string;
  readonly priority: number;
  /** All its asks, by full key. */
  readonly asks: readonly StoredAsk[];
  readonly goodForMs: number | null;
  /** JSON text of its own options. */
  readonly options: string;
  /** Whose failure it handles. */
  readonly of: { readonly kind: "task" | "workflow"; readonly name: string };
}
