/** Wake-ups: hints that somebody may want to look. They are never facts, and any of them may be lost. */
export interface WakeUpPort {
  /** Answers how to stop listening. */
  listen(hear: (hint: string) => void): Promise<() => Promise<void>>;
  hint(hint: string): void;
}
