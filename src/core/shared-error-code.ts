/** Codes of locks that several engines share. */
export const OF_SHARED_LOCKS = {
  CONTROLLER_ALIVE: {
    means: "The controller is alive, so it cannot be removed.",
    cure: "Stop its workers, and wait until it is inactive.",
  },
  CONTROLLER_TAKEN: {
    means: "Another live engine takes part in shared locks under the same controller name.",
    cure: "Give each engine its own controllerName. After a move to another store, wait for the inactivity time, or remove the controller.",
  },
  SYNC_NOT_CONFIGURED: {
    means: "The program does not know the sync database.",
    cure: "Connect with an app that has a sync section, or name the database with SLUICE_SYNC.",
  },
  SYNC_UNREACHABLE: {
    means: "The sync database of shared locks could not be reached, or the connection to it was lost.",
    cure: "Check its address, and that it is running. Work without shared locks goes on. A running worker tries again by itself.",
  },
  UNKNOWN_CONTROLLER: {
    means: "No controller has this name.",
    cure: "List the controllers.",
  },
} as const;
