/** Wake-ups: hints that there may be something to do. They are never facts, and any of them may be lost. */
import type { Hear, Hint } from "../../core/hint.ts";

export interface WakeUpPort {
  /** Returns a function that stops listening. */
  listen(hear: Hear): Promise<() => Promise<void>>;
  hint(hint: Hint): void;
}
