/**
 * How long a child may take to begin what it is given.
 *
 * Exactly one child may run a job, and a child that is frozen or blocked cannot be asked. So what it is given says until
 * when it may begin, on the clock that all processes of a machine share. The child writes that it has begun, and then
 * looks at the clock: only before that instant it runs the code. The parent reads the channel after that instant: if
 * the word is not there, the code does not run and never will, and the job can go to another child. No message more than
 * without all this.
 */
const FIRST_MS = 250;
const LONGEST_MS = 8_000;
/** How long after that instant the parent looks: what was written before it is in the channel by then. */
export const AFTER_MS = 20;

/** Longer each time, so that a machine that is slow to answer gets its turn. */
export function offerMs(missed: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(missed, 10));
}
