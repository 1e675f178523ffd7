/** Records of units that need locks shared with other engines. */

/** Who takes the locks that this engine shares with others. */
export interface LeaderRecord {
  readonly name: string;
  readonly engine: string;
  readonly session: string;
  readonly untilAt: number;
  readonly n: number;
}

export interface IntentRecord {
  readonly unit: string;
  readonly n: number;
  readonly session: string;
  readonly at: number;
}
