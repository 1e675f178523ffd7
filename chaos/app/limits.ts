/** What the app declares, as the supervisor knows it: it never loads the app. */
export const DECLARED = {
  cluster: 10,
  "queue:fast": 6,
  "queue:slow": 4,
  "queue:bulk": 5,
  "pool:database": 6,
  "pool:mutex": 1,
} as const satisfies Record<string, number>;

export const LEASE_MS = 3_000;
