/** Something the person at the keyboard wrote wrongly. */
export class UsageError extends Error {}
