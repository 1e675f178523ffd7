/** The codes of locks and namespaces. `error-code.ts` has all others. */
import { OF_SHARED_LOCKS } from "./shared-error-code.ts";

export const OF_LOCKS = {
  ...OF_SHARED_LOCKS,
  BAD_CONFIG_MAP: {
    means: "A file with limits of semaphores cannot be read as ConfigMaps. Its former limits stay.",
    cure: "Correct the file. A worker reads it again by itself.",
  },
  BAD_LOCK: {
    means: "The name of a lock is not a usable text, or a lock cannot be asked for like this.",
    cure: "Give the lock a name that the message allows.",
  },
  BAD_NAMESPACE: {
    means: "The text cannot be the name of a namespace.",
    cure: "Use a text without slashes, equals signs and stars.",
  },
  LOCK_LOST: {
    means: "A program no longer holds its lock: the lease was not renewed in time, or somebody cancelled it.",
    cure: "Stop what the lock protects. Acquire the lock again before you go on.",
  },
  LOCK_TIMEOUT: {
    means: "A program waited for a lock as long as it said, and did not get it.",
    cure: "Find out who holds it, or wait longer.",
  },
  LOCK_RELEASED: {
    means: "A person released a lock that the unit held, so it was aborted.",
    cure: "Check what the lock guards, then retry the unit.",
  },
  NOT_DIRECT: {
    means: "The workflow holds mutexes or pools, so it cannot be executed directly.",
    cure: "Submit it instead.",
  },
  NOT_HELD: {
    means: "Nobody holds the lock that is to be released, or several units do.",
    cure: "Look who holds it.",
  },
  UNKNOWN_LOCK: { means: "There is no lock of this name in the store.", cure: "Look at the list of locks." },
  SELF_DEADLOCK: {
    means:
      "A step asks for a lock that a run above it holds until the step has ended, so it could never start.",
    cure: "Ask with the outer one or with the inner one, not with both.",
  },
} as const;
