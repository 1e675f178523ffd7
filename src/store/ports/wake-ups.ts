/** Wake-ups: hints that somebody may want to look. They are never facts, and any of them may be lost. */
import type { Hear, Hint } from "../../core/hint.ts";

export interface WakeUpPort {
  /** Answers how to stop listening. */
  listen(hear: Hear): Promise<() => Promise<void>>;
  hint(hint: Hint): void;
}
