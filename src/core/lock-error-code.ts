/** The codes of locks. `error-code.ts` has all others. */
export const OF_LOCKS = {
  BAD_LOCK: {
    means: "The name of a lock is not a usable text, or a lock cannot be asked for like this.",
    cure: "Give the lock a name that the message allows.",
  },
  LOCK_LOST: {
    means: "A program no longer holds its lock: the lease was not renewed in time, or somebody cancelled it.",
    cure: "Stop what the lock protects. Acquire the lock again before you go on.",
  },
  LOCK_TIMEOUT: {
    means: "A program waited for a lock as long as it said, and did not get it.",
    cure: "Find out who holds it, or wait longer.",
  },
} as const;
