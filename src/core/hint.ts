/**
 * Hints wake listeners, in this process and in others. A hint only says where to look. A lost hint costs the
 * time until the next poll; a needless one costs a look.
 */
export const HINTS = {
  work: "Tasks may be able to start. Workers make a pass.",
  runs: "Runs may be able to start or continue. Workers check runs and triggers.",
  later: "A unit was delayed. Workers check again when the next unit is due.",
  cancel: "A unit was cancelled or ended early. Workers check which of their claims are over.",
  feed: "The feed has new changes. Its listeners read them.",
} as const;

export type Hint = keyof typeof HINTS;

export type Hear = (hint: Hint) => void;

export const isHint = (text: string): text is Hint => Object.hasOwn(HINTS, text);

/** For listeners that may have missed any of them. */
export const ALL_HINTS: readonly Hint[] = Object.keys(HINTS).filter(isHint);
