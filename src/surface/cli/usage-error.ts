/** A mistake in the command line. */
export class UsageError extends Error {}
