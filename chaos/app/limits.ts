/** The limits and asks that the app declares, for the supervisor, which never loads the app. */
export const DECLARED = {
  cluster: 14,
  "queue:fast": 8,
  "queue:slow": 6,
  "queue:bulk": 7,
  "queue:stuck": 2,
  "pool:database": 8,
  "pool:mutex": 1,
  runs: 6,
} as const satisfies Record<string, number>;

/** The slots that the tasks ask of pools, whether on their own or as steps of runs. */
export const POOLS_OF: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  light: { database: 1 },
  heavy: { database: 3 },
  single: { mutex: 1 },
  share: { database: 1 },
};

/** How many runs of one tenant may be in progress. */
export const RUNS_OF_A_TENANT = 2;
/** How many items of a list may be in flight. */
export const WINDOW = 2;
/** The triggers that start runs by themselves. */
export const TRIGGERS = ["tick", "count"] as const;
export const TICK_MS = 5_000;

export const LEASE_MS = 3_000;
