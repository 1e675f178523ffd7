import type { Success } from "../../core/schedule/automation.ts";
import type { AnyStore, Capabilities } from "../../store/capabilities.ts";

export interface StoreSuiteOptions {
  /** What the store says of itself. What is not named here is as a whole store without a caller's transaction has it. */
  readonly capabilities?: Partial<Capabilities>;
  /** Sets the limit in force behind the store's back, as an operator's plain UPDATE does. */
  readonly setLimitDirectly?: (store: AnyStore, key: string, limit: number) => Promise<void>;
  /** Writes down that a workflow has succeeded, as if a run of it had ended. */
  readonly succeedDirectly?: (store: AnyStore, success: Success) => Promise<void>;
}
