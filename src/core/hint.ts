/**
 * Hints wake listeners, in this process and in others. A hint only says where to look. A lost hint costs the
 * time until the next poll; a needless one costs a look.
 */
export const HINTS = {
  work: "Tasks may be able to start: workers make a pass.",
  runs: "Runs may be able to start or continue: coordinators and triggers look.",
  later: "Something was delayed: the worker that moves due units into line looks when the next one is due.",
  cancel: "Something was cancelled or ended early: workers look for claims that they no longer hold.",
  feed: "The feed has something new: whoever follows it reads on.",
} as const;

export type Hint = keyof typeof HINTS;

export type Hear = (hint: Hint) => void;

export const isHint = (text: string): text is Hint => Object.hasOwn(HINTS, text);
