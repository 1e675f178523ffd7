import type { Success } from "../../core/schedule/automation.ts";
import type { AnyStore, Capabilities } from "../../store/capabilities.ts";

export interface StoreSuiteOptions {
  /**
   * The capabilities of the store. The default for each is that of a complete store without caller's
   * transactions.
   */
  readonly capabilities?: Partial<Capabilities>;
  /** Sets the limit in force behind the store's back, as an operator's plain UPDATE does. */
  readonly setLimitDirectly?: (store: AnyStore, key: string, limit: number) => Promise<void>;
  /** Records that a workflow has succeeded, as if a run of it had ended. */
  readonly succeedDirectly?: (store: AnyStore, success: Success) => Promise<void>;
}
