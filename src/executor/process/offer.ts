/**
 * How long a child may take to start a job.
 *
 * Exactly one child may run a job, and a frozen or blocked child cannot be asked. So each offer says until
 * when the job may start, on the clock that all processes of a machine share. The child writes "begun" and
 * then looks at the clock: it runs the code only before that instant. The parent reads the channel after that
 * instant. If "begun" is not there, the code does not run and never will, and the job can go to another
 * child. This costs no extra message.
 */
const FIRST_MS = 250;
const LONGEST_MS = 8_000;
/** How long after that instant the parent looks. A message written before it is in the channel by then. */
export const AFTER_MS = 20;

/** Offers grow longer each time, so that a slow machine gets its turn. */
export function offerMs(missed: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(missed, 10));
}
