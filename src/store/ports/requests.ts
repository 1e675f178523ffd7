/**
 * Requests of plain code for locks (`src/core/lock/request.ts`). A request is a unit like any other: `enqueue`
 * puts it in line, a pass admits it, and the report `gone` ends it. It leaves nothing behind, so what its
 * process does not take away itself is swept.
 */
export interface RequestPort {
  /**
   * Takes requests out of line, and forgets them. Returns those that were still in line. A request that was
   * admitted in the meantime stays as it is: its holder releases it.
   */
  withdraw(ids: readonly string[]): Promise<string[]>;
  /**
   * Takes the requests of dead processes out of line. Deletes lanes of requests that nobody has used for
   * `idleMs`, and with them the gates that nobody has set, declared or asked for. Returns how many rows that
   * were; there may be more.
   */
  sweepRequests(idleMs: number): Promise<number>;
}
