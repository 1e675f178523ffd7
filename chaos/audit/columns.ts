/**
 * The audit: our own triggers on the product's tables record every grant, release, lease, limit, place and
 * outcome in the transaction that made it. They write to one table of plain columns. This file defines what
 * each kind keeps in them.
 */
export const COLUMNS = "kind, k1, k2, k3, n1, n2, n3, n4, n5";

export interface Watched {
  readonly table: string;
  readonly on: "INSERT" | "UPDATE" | "DELETE";
  /** Fires only if one of these columns changes. */
  readonly of?: readonly string[];
  readonly kind: string;
  /** k1, k2, k3, n1, … n5, with `@` for the row. */
  readonly keep: readonly string[];
}

const CLAIM = ["@.id", "@.lane", "@.session", "@.epoch", "@.held", "@.until_at", "@.attempt", "@.losses"];
const SESSION = ["@.id", "@.name", "NULL", "@.expires_at", "NULL", "NULL", "NULL", "NULL"];
const GATE = ["@.name", "NULL", "NULL", "@.capacity", "@.paused", "NULL", "NULL", "NULL"];
const place = (where: string): string[] => [
  "@.id",
  `'${where}'`,
  "NULL",
  "NULL",
  "NULL",
  "NULL",
  "@.attempt",
  "@.losses",
];
const OUTCOME = ["@.id", "@.state", "NULL", "@.epoch", "NULL", "NULL", "@.attempt", "@.losses"];

/** The unit has moved on while its code has not, so it still holds its slots. */
const STOPPING = ["@.id", "@.lane", "@.session", "@.epoch", "1", "@.until_at", "0", "0"];

export const WATCHED: readonly Watched[] = [
  { table: "sluice_running", on: "INSERT", kind: "claim", keep: CLAIM },
  { table: "sluice_running", on: "UPDATE", of: ["held", "until_at"], kind: "change", keep: CLAIM },
  { table: "sluice_running", on: "DELETE", kind: "release", keep: CLAIM },
  { table: "sluice_stopping", on: "INSERT", kind: "stopping", keep: STOPPING },
  { table: "sluice_stopping", on: "UPDATE", of: ["until_at"], kind: "stopping", keep: STOPPING },
  { table: "sluice_stopping", on: "DELETE", kind: "stopped", keep: STOPPING },
  { table: "sluice_session", on: "INSERT", kind: "session", keep: SESSION },
  { table: "sluice_session", on: "UPDATE", of: ["expires_at"], kind: "session", keep: SESSION },
  { table: "sluice_session", on: "DELETE", kind: "sessionEnd", keep: SESSION },
  { table: "sluice_gate", on: "INSERT", kind: "limit", keep: GATE },
  { table: "sluice_gate", on: "UPDATE", of: ["capacity", "paused"], kind: "limit", keep: GATE },
  { table: "sluice_waiting", on: "INSERT", kind: "place", keep: place("waiting") },
  { table: "sluice_later", on: "INSERT", kind: "place", keep: place("later") },
  { table: "sluice_outcome", on: "INSERT", kind: "outcome", keep: OUTCOME },
  { table: "sluice_outcome", on: "DELETE", kind: "outcomeGone", keep: OUTCOME },
];

/** The values that the trigger keeps, with the row as `NEW` or `OLD`. */
export function kept({ on, kind, keep }: Watched): string {
  const row = on === "DELETE" ? "OLD" : "NEW";
  return [`'${kind}'`, ...keep.map((each) => each.replace("@", row))].join(", ");
}

export const nameOf = ({ table, on }: Watched): string => `chaos_${table}_${on.toLowerCase()}`;
