/** What the app declares, as the supervisor knows it: it never loads the app. */
export const DECLARED = {
  cluster: 14,
  "queue:fast": 8,
  "queue:slow": 6,
  "queue:bulk": 7,
  "queue:stuck": 2,
  "pool:database": 8,
  "pool:mutex": 1,
} as const satisfies Record<string, number>;

export const LEASE_MS = 3_000;
