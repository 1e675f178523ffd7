/** Rules for a limit and a lease, wherever they are written: in an app, a command, or code. */
import { shortly } from "../text.ts";
import { formatDuration } from "../time.ts";
import { UNLIMITED } from "./gate.ts";

/** A worker that is merely busy could not renew a shorter lease in time. */
const SHORTEST_LEASE_MS = 1_000;

/** True if an operator may set it. The caps of an app begin at 1 (`least`). */
export function isLimit(value: unknown, least: number = UNLIMITED): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least;
}

/** The problem with a lease, if any: "must be 1s or more, but is 20ms". */
export function leaseProblem(leaseMs: unknown): string | undefined {
  if (typeof leaseMs !== "number") return `must be a number of milliseconds, but is ${shortly(leaseMs)}`;
  if (leaseMs >= SHORTEST_LEASE_MS) return undefined;
  return `must be ${formatDuration(SHORTEST_LEASE_MS)} or more, but is ${formatDuration(leaseMs)}`;
}
